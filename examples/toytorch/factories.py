"""Operators that make tensors or copy them (aten/src/ATen/native/TensorFactories.cpp, Copy.cpp), and random numbers
(ATen/core/MT19937RNGEngine.h, native/cpu/DistributionTemplates.h)."""

import functools
import math

import numpy as np

from ._tensor import Tensor, row_major
from .dispatch import aten, library
from .storage import DTYPES, TORCH_CHECK, UntypedStorage, float32, int64, result_type


def empty(size, dtype=float32, device="cpu"):
    least = min(size, default=0)
    TORCH_CHECK(least >= 0, f"Trying to create tensor with negative dimension {least}: {list(size)}")
    storage = UntypedStorage(math.prod(size) * dtype.numpy.itemsize, device)
    return Tensor(storage, dtype, size, row_major(size))


def assert_no_internal_overlap(self):
    """aten/src/ATen/MemoryOverlap.h"""
    overlaps = any(n > 1 and not step for n, step in zip(self.shape, self.strides))
    said = "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
    TORCH_CHECK(not overlaps, f"{said}Please clone() the tensor before performing the operation.")


def copy(self, src):
    if isinstance(src, (Tensor, np.ndarray)):  # a number may be written twice, as zero_ does
        assert_no_internal_overlap(self)
    if self.device == "cpu":
        self.array()[...] = src.array() if isinstance(src, Tensor) else src
    return self


def tensor(data, dtype=None, device="cpu", requires_grad=False):
    """A new tensor with a copy of the numbers (torch/csrc/utils/tensor_new.cpp)."""
    array = np.array(data)
    if array.dtype == np.float64 and not isinstance(data, (np.ndarray, np.generic)):
        array = array.astype(np.float32)  # Python's numbers
    known = {one.numpy: one for one in DTYPES}
    TORCH_CHECK(dtype or array.dtype in known, f"toytorch has no {array.dtype}", NotImplementedError)
    return copy(empty(array.shape, dtype or known[array.dtype], device), array).requires_grad_(requires_grad)


@library("BackendSelect")
def full(size, fill_value, dtype=None, device="cpu"):
    return copy(empty(size, dtype or result_type(fill_value), device), fill_value)


@library("CompositeExplicitAutograd")
def _to_copy(self, dtype):
    return copy(empty(self.shape, dtype, self.device), self)


library("CompositeExplicitAutograd", "clone")(lambda self: copy(empty(self.shape, self.dtype, self.device), self))
library("CompositeExplicitAutograd", "copy_")(lambda self, src: copy(self, src))
library("CompositeExplicitAutograd", "zero_")(lambda self: copy(self, 0))
composite = functools.partial(library, "CompositeImplicitAutograd")
composite("zeros_like")(lambda self: full(self.shape, 0, self.dtype, self.device))
composite("ones_like")(lambda self: full(self.shape, 1, self.dtype, self.device))
composite("contiguous")(lambda self: self if self.is_contiguous() else aten.clone(self))
composite("to")(lambda self, dtype: self if dtype is self.dtype else _to_copy(self, dtype))


def manual_seed(seed):
    """NumPy has the same Mersenne Twister, of which torch makes other numbers."""
    global engine
    engine = np.random.RandomState(seed & 0xFFFFFFFF)


def random(n):
    """The next n words of 32 bits."""
    return np.frombuffer(engine.bytes(4 * n), "<u4")


def uniform(n):
    """Numbers in [0, 1): 24 bits of a word each."""
    return (random(n) & 0xFFFFFF).astype(np.float32) * np.float32(2**-24)


def normal(numbers):
    """Box and Muller make two normal numbers of two uniform ones: of 16, the first 8 are paired with the last 8."""
    first, last = numbers.reshape(-1, 2, 8).swapaxes(0, 1)
    radius, theta = np.sqrt(-2 * np.log(1 - first)), np.float32(2 * np.pi) * last
    return np.concatenate([radius * np.cos(theta), radius * np.sin(theta)], axis=1).ravel()


@library("BackendSelect")
def randn(size, device="cpu"):
    out, n = empty(size, device=device), math.prod(size)
    if device == "cpu":
        TORCH_CHECK(n >= 16, "toytorch draws 16 normal numbers or more", NotImplementedError)
        numbers, whole = uniform(n), n - n % 16
        numbers[:whole] = normal(numbers[:whole])
        if n % 16:
            numbers[-16:] = normal(uniform(16))
        copy(out, numbers.reshape(size))
    return out


@library("BackendSelect")
def randint(high, size, device="cpu"):
    TORCH_CHECK(high > 0, f"random_ expects 'from' to be less than 'to', but got from=0 >= to={high}")
    out = empty(size, int64, device)
    return copy(out, (random(out.numel()) % high).reshape(size)) if device == "cpu" else out


@library("CPU")
def uniform_(self, low=0.0, high=1.0):
    return copy(self, (uniform(self.numel()) * np.float32(high - low) + np.float32(low)).reshape(self.shape))


manual_seed(67280421310721)
