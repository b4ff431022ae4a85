"""Bytes, and what a dtype makes of them (c10/core/StorageImpl.h, ScalarType.h)."""

import numpy as np

from .memory import allocator


def TORCH_CHECK(condition, message, error=RuntimeError):
    """c10/util/Exception.h"""
    if not condition:
        raise error(message)


class dtype:  # noqa: N801
    def __init__(self, name, scalar_type, category):
        self.name, self.scalar_type, self.category = name, scalar_type, category  # bool 0, integer 1, float 2
        self.numpy, self.is_floating_point = np.dtype(name), category == 2
        self.itemsize, self.c_name = self.numpy.itemsize, {"Long": "long int"}.get(scalar_type, scalar_type.lower())

    def __repr__(self):
        return f"torch.{self.name}"


bool_, int64 = dtype("bool", "Bool", 0), dtype("int64", "Long", 1)
float32, float64 = dtype("float32", "Float", 2), dtype("float64", "Double", 2)
DTYPES = {one.numpy: one for one in (bool_, int64, float32, float64)}


def result_type(*operands):
    """Tensors with dimensions decide. Those without do only by a higher category (bool, integer, float). Numbers come
    last (aten/src/ATen/native/TypeProperties.cpp)."""
    best = {}  # rank -> dtype
    for one in operands:
        kind = getattr(one, "dtype", None) or {bool: bool_, int: int64}.get(type(one), float32)
        rank = 2 if not hasattr(one, "dtype") else 0 if one.dim() else 1
        best[rank] = max(best.get(rank, kind), kind, key=lambda kind: (kind.category, kind.itemsize))
    return max((best[rank] for rank in sorted(best)), key=lambda kind: kind.category)


class UntypedStorage:
    """Bytes from the allocator, which takes them back when the last tensor on them is gone. On meta there are none."""

    def __init__(self, nbytes, device="cpu"):
        self._nbytes, self.device, self.block = nbytes, device, None
        if device == "cpu":
            self.memory, self.block = allocator.malloc(nbytes)
            self.data = self.memory[self.block[0] : sum(self.block[:2])]

    def nbytes(self):
        return self._nbytes

    def data_ptr(self):
        return self.data.ctypes.data if self.block else 0

    def __del__(self):
        if self.block:
            allocator.free(self.memory, self.block)
