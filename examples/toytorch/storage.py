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

    def __repr__(self):
        return f"torch.{self.name}"


bool_, int64, float32 = DTYPES = dtype("bool", "Bool", 0), dtype("int64", "Long", 1), dtype("float32", "Float", 2)


def result_type(*operands):
    """The highest category of the operands (aten/src/ATen/native/TypeProperties.cpp)."""
    kinds = (getattr(one, "dtype", None) or {bool: bool_, int: int64}.get(type(one), float32) for one in operands)
    return max(kinds, key=lambda kind: kind.category)


class UntypedStorage:
    """Bytes from the allocator, which takes them back when the last tensor on them is gone. On meta there are none."""

    def __init__(self, nbytes, device="cpu"):
        self._nbytes, self.device, self.block = nbytes, device, None
        if device == "cpu":
            self.memory, self.block = allocator.malloc(nbytes)

    def nbytes(self):
        return self._nbytes

    def data_ptr(self):
        return self.memory.ctypes.data + self.block[0] if self.block else 0

    def __del__(self):
        if self.block:
            allocator.free(self.block)
