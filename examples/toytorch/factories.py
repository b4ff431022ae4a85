"""Operators that make tensors or copy them, and random numbers (native/TensorFactories.cpp, MT19937RNGEngine.h)."""

import math

import numpy as np

from ._tensor import TORCH_CHECK, Tensor, bool_, float32, int64
from .dispatch import library
from .memory import UntypedStorage

DTYPES = {"b": bool_, "i": int64, "f": float32}  # by NumPy's kinds; each holds those before it


def promote(*operands):
    """The highest dtype of tensors, arrays and numbers (aten/src/ATen/native/TypeProperties.cpp)."""
    kinds = {(x if isinstance(x, Tensor) else np.asarray(x)).dtype.kind for x in operands}
    TORCH_CHECK(kinds <= DTYPES.keys(), "an operand is neither tensor nor number", TypeError)
    return DTYPES[max(kinds, key="bif".index)]


def empty(size, dtype=float32, device="cpu"):
    """A contiguous tensor: a step along a dimension passes all elements of the dimensions behind it."""
    strides = [math.prod(max(n, 1) for n in size[d + 1 :]) for d in range(len(size))]  # 0 counts as 1, as in torch
    return Tensor(UntypedStorage(math.prod(size) * dtype.itemsize, device), dtype, size, strides)


def write(self, values):  # a tensor, an array or a number; on meta there is nothing to write to
    if self.device == "cpu":
        self.array()[...] = values
    return self


def tensor(data, dtype=None, device="cpu", requires_grad=False):
    """A new tensor with a copy of the numbers (torch/csrc/utils/tensor_new.cpp)."""
    array = np.asarray(data)
    return write(empty(array.shape, dtype or promote(array), device), array).requires_grad_(requires_grad)


@library("BackendSelect")  # a call without a tensor brings this key alone
def full(size, fill_value, dtype=None, device="cpu", requires_grad=False):
    return write(empty(size, dtype or promote(fill_value), device), fill_value).requires_grad_(requires_grad)


library("CompositeImplicitAutograd", "zeros_like")(lambda self: full(self.shape, 0, self.dtype, self.device))
library("CompositeExplicitAutograd", "clone")(lambda self: write(empty(self.shape, self.dtype, self.device), self))


engine = np.random.RandomState(67280421310721 & 0xFFFFFFFF)  # torch's Mersenne Twister; torch makes other numbers of it


def manual_seed(seed):
    engine.seed(seed & 0xFFFFFFFF)


def uniform(size, low=0.0, high=1.0):  # numbers from low to high, made of 24 bits of a word each
    words = engine.randint(2**32, size=size, dtype=np.uint32)
    return (words & 0xFFFFFF).astype(np.float32) * np.float32((high - low) * 2**-24) + np.float32(low)


def box_muller(sixteen):  # 16 uniform numbers become normal ones, as torch makes them: the first 8 with the last 8
    radius, theta = np.sqrt(-2 * np.log(1 - sixteen[:8])), np.float32(2 * np.pi) * sixteen[8:]
    sixteen[:8], sixteen[8:] = radius * np.cos(theta), radius * np.sin(theta)


@library("BackendSelect")
def randn(size):
    n = math.prod(size)
    TORCH_CHECK(n >= 16, "toytorch draws 16 normal numbers or more", NotImplementedError)
    numbers = uniform(n)
    for start in range(0, n - 15, 16):
        box_muller(numbers[start : start + 16])
    if n % 16:  # the last 16 are drawn again
        numbers[-16:] = uniform(16)
        box_muller(numbers[-16:])
    return tensor(numbers.reshape(size))


@library("BackendSelect")
def randint(high, size):
    TORCH_CHECK(high > 0, f"random_ expects 'from' to be less than 'to', but got from=0 >= to={high}")
    return tensor(engine.randint(2**32, size=size, dtype=np.uint32) % high, int64)
