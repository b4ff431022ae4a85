"""Operators that make tensors or copy them, and random numbers (native/TensorFactories.cpp, MT19937RNGEngine.h)."""

import math

import numpy as np

from ._tensor import DTYPES, TORCH_CHECK, Tensor, float32, int64
from .dispatch import library
from .memory import UntypedStorage


def promote(*operands):
    """The highest dtype of tensors, numbers and dtypes (aten/src/ATen/native/TypeProperties.cpp)."""
    operands = [one.dtype if isinstance(one, Tensor) else one for one in operands]
    kinds = [one.kind if isinstance(one, np.dtype) else np.asarray(one).dtype.kind for one in operands]
    TORCH_CHECK(set(kinds) <= set(DTYPES), "an operand is neither tensor nor number", TypeError)
    return DTYPES[max(kinds, key="bif".index)]


def empty(size, dtype=float32, device="cpu"):
    strides = [math.prod(max(n, 1) for n in size[d + 1 :]) for d in range(len(size))]
    return Tensor(UntypedStorage(math.prod(size) * dtype.itemsize, device), dtype, size, strides)


def copy(self, src, overlap=False):
    """Writes a tensor, an array or a number. Elements may share a place in memory only where `overlap` allows it."""
    fits = overlap or not any(n > 1 and not step for n, step in zip(self.shape, self.strides))
    said = "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
    TORCH_CHECK(fits, f"{said}Please clone() the tensor before performing the operation.")
    if self.device == "cpu":
        self.array()[...] = src
    return self


def tensor(data, dtype=None, device="cpu", requires_grad=False):
    """A new tensor with a copy of the numbers (torch/csrc/utils/tensor_new.cpp)."""
    array = np.asarray(data)
    dtype = dtype or DTYPES.get(array.dtype.kind)
    TORCH_CHECK(dtype, f"toytorch has no {array.dtype}", NotImplementedError)
    return copy(empty(array.shape, dtype, device), array).requires_grad_(requires_grad)


@library("BackendSelect")
def full(size, fill_value, dtype=None, device="cpu", requires_grad=False):
    return copy(empty(size, dtype or promote(fill_value), device), fill_value).requires_grad_(requires_grad)


library("CompositeExplicitAutograd", "clone")(lambda self: copy(empty(self.shape, self.dtype, self.device), self))
library("CompositeExplicitAutograd", "copy_")(lambda self, src: copy(self, src))
library("CompositeExplicitAutograd", "zero_")(lambda self: copy(self, 0, overlap=True))
library("CompositeImplicitAutograd", "zeros_like")(lambda self: full(self.shape, 0, self.dtype, self.device))
library("CompositeImplicitAutograd", "ones_like")(lambda self: full(self.shape, 1, self.dtype, self.device))


def manual_seed(seed):
    """NumPy has the same Mersenne Twister, of which torch makes other numbers."""
    global engine
    engine = np.random.RandomState(seed & 0xFFFFFFFF)


manual_seed(67280421310721)


def words(size):
    """The next words of 32 bits."""
    return engine.randint(2**32, size=size, dtype=np.uint32)


def uniform(size):
    """Numbers in [0, 1): 24 bits of a word each."""
    return (words(size) & 0xFFFFFF).astype(np.float32) * np.float32(2**-24)


@library("BackendSelect")
def randn(size):
    """Box and Muller make two normal numbers of two uniform ones: of 16, the first 8 are paired with the last 8."""
    n = math.prod(size)
    TORCH_CHECK(n >= 16, "toytorch draws 16 normal numbers or more", NotImplementedError)
    numbers = uniform(n)
    for start in range(0, n, 16):
        sixteen = numbers[start : start + 16]  # a view: what is written to it is in numbers
        if len(sixteen) < 16:  # the last 16 are drawn again
            sixteen = numbers[-16:]
            sixteen[:] = uniform(16)
        radius, theta = np.sqrt(-2 * np.log(1 - sixteen[:8])), np.float32(2 * np.pi) * sixteen[8:]
        sixteen[:8], sixteen[8:] = radius * np.cos(theta), radius * np.sin(theta)
    return tensor(numbers.reshape(size))


@library("BackendSelect")
def randint(high, size):
    TORCH_CHECK(high > 0, f"random_ expects 'from' to be less than 'to', but got from=0 >= to={high}")
    return tensor(words(size) % high, int64)


@library("CPU")
def uniform_(self, low=0.0, high=1.0):
    return copy(self, uniform(self.shape) * np.float32(high - low) + np.float32(low))
