"""Operators that make tensors or copy them (aten/src/ATen/native/TensorFactories.cpp, Copy.cpp)."""

import math

import numpy as np

from ._tensor import Tensor, row_major
from .dispatch import library
from .storage import DTYPES, TORCH_CHECK, UntypedStorage, float32, result_type


def empty(size, dtype=float32, device="cpu"):
    least = min(size, default=0)
    TORCH_CHECK(least >= 0, f"Trying to create tensor with negative dimension {least}: {list(size)}")
    return Tensor(UntypedStorage(math.prod(size) * dtype.itemsize, device), dtype, size, row_major(size))


def from_array(array, dtype, device="cpu"):
    out = empty(np.shape(array), dtype, device)
    return copy(out, array)


@library("BackendSelect")
def full(size, fill_value, dtype=None, device="cpu"):
    return copy(empty(size, dtype or result_type(fill_value), device), fill_value)


@library("BackendSelect")
def arange(start, end=None, step=1, dtype=None, device="cpu"):
    start, end = (0, start) if end is None else (start, end)
    TORCH_CHECK(step != 0, "step must be nonzero")
    TORCH_CHECK(math.isfinite(start) and math.isfinite(end), f"unsupported range: {start} -> {end}")
    TORCH_CHECK((end - start) * step >= 0, "upper bound and lower bound inconsistent with step sign")
    numbers = start + step * np.arange(math.ceil((end - start) / step))
    return from_array(numbers, dtype or result_type(start, end, step), device)


def copy(self, src):
    if self.device == "cpu":
        self.array()[...] = src.array() if isinstance(src, Tensor) else src
    return self


@library("CompositeExplicitAutograd")
def _to_copy(self, dtype=None, device=None):
    return copy(empty(self.shape, dtype or self.dtype, device or self.device), self)


library("CompositeExplicitAutograd", "clone")(lambda self: copy(empty(self.shape, self.dtype, self.device), self))
library("CompositeExplicitAutograd", "copy_")(lambda self, src: copy(self, src))
library("CompositeExplicitAutograd", "fill_")(lambda self, value: copy(self, value))
library("CompositeExplicitAutograd", "zero_")(lambda self: copy(self, 0))


@library("CompositeImplicitAutograd")
def zeros_like(self, dtype=None, device=None):
    return full(self.shape, 0, dtype or self.dtype, device or self.device)


@library("CompositeImplicitAutograd")
def ones_like(self, dtype=None, device=None):
    return full(self.shape, 1, dtype or self.dtype, device or self.device)


@library("CompositeImplicitAutograd")
def to(self, dtype=None, device=None):
    dtype, device = (self.dtype, dtype) if isinstance(dtype, str) else (dtype or self.dtype, device or self.device)
    return self if (dtype, device) == (self.dtype, self.device) else _to_copy(self, dtype, device)


def factory(op, *fixed):
    """zeros(2, 3) and zeros((2, 3), requires_grad=True): what Python adds around an operator."""

    def make(*size, requires_grad=False, **options):
        size = size[0] if size and not isinstance(size[0], int) else size
        return op(size, *fixed, **options).requires_grad_(requires_grad)

    return make


def tensor(data, dtype=None, device="cpu", requires_grad=False):
    """A new tensor with a copy of the numbers; Python's become float32 (torch/csrc/utils/tensor_new.cpp)."""
    array = np.asarray(data)
    python = not isinstance(data, (np.ndarray, np.generic)) and array.dtype == np.float64
    inferred = float32 if python else DTYPES.get(array.dtype, float32)
    return from_array(array, dtype or inferred, device).requires_grad_(requires_grad)
