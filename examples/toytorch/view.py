"""Views: other sizes, strides and offset on the same storage (ATen/native/TensorShape.cpp, ATen/ExpandUtils.h)."""

import math

import numpy as np

from ._tensor import TORCH_CHECK, Tensor
from .dispatch import aten, library


def view_op(function):
    """A view needs no data: one kernel serves CPU and Meta. The function returns sizes, strides and offset."""
    kernel = lambda self, *args: Tensor(self.storage, self.dtype, *function(self, *args))  # noqa: E731
    return library("CompositeExplicitAutograd", function.__name__, function)(kernel)


@view_op
def detach(self):
    return self.shape, self.strides, self.offset


# --8<-- [start:t]
@view_op
def t(self):
    TORCH_CHECK(self.dim() <= 2, f"t() expects a tensor with <= 2 dimensions, but self is {self.dim()}D")
    return self.shape[::-1], self.strides[::-1], self.offset
    # --8<-- [end:t]


@view_op
def select(self, index):
    TORCH_CHECK(self.dim(), "too many indices for tensor of dimension 0", IndexError)
    size = self.shape[0]
    TORCH_CHECK(-size <= index < size, f"index {index} is out of bounds for dimension 0 with size {size}", IndexError)
    return self.shape[1:], self.strides[1:], self.offset + index % size * self.strides[0]


def index(self, key):
    """x[1] is a row, and x[1, 2] an element of it (torch/csrc/autograd/python_variable_indexing.cpp)."""
    for one in key if isinstance(key, tuple) else (key,):
        TORCH_CHECK(type(one) is int, f"toytorch has no index of type {type(one).__name__}", NotImplementedError)
        self = aten.select(self, one)
    return self


@view_op
def expand(self, size):
    new = len(size) - self.dim()
    TORCH_CHECK(new >= 0, f"expand: {list(size)} has fewer dimensions than the tensor ({self.dim()})")
    shape, strides = (1,) * new + self.shape, (0,) * new + self.strides
    size = [mine if n == -1 else n for n, mine in zip(size, shape)]
    for d, (n, mine) in enumerate(zip(size, shape)):
        said = f"The expanded size of the tensor ({n}) must match the existing size ({mine}) at non-singleton dimension"
        TORCH_CHECK(mine in (1, n), f"{said} {d}.  Target sizes: {size}.  Tensor sizes: {list(self.shape)}")
    return size, [step if n == mine else 0 for n, mine, step in zip(size, shape, strides)], self.offset


@view_op
def view(self, size):
    known = math.prod(n for n in size if n != -1)
    sizes = [self.numel() // max(known, 1) if n == -1 else n for n in size]
    fits = math.prod(sizes) == self.numel() and (known or -1 not in size)
    TORCH_CHECK(fits, f"shape '{list(size)}' is invalid for input of size {self.numel()}")
    # NumPy has torch's rule. In an array of bools strides count elements, and none is read here.
    mine = np.lib.stride_tricks.as_strided(np.empty(1, bool), self.shape, self.strides)
    try:
        return sizes, np.reshape(mine, sizes, copy=False).strides, self.offset
    except ValueError:
        said = "view size is not compatible with input tensor's size and stride (at least one dimension spans across "
        raise RuntimeError(f"{said}two contiguous subspaces). Use .reshape(...) instead.") from None


@library("CompositeImplicitAutograd")
def reshape(self, size):
    try:
        return aten.view(self, size)
    except RuntimeError:
        return aten.view(aten.clone(self), size)


def broadcast_shapes(a, b):
    a, b = (1,) * (len(b) - len(a)) + a, (1,) * (len(a) - len(b)) + b
    for d, (m, n) in reversed([*enumerate(zip(a, b))]):
        said = f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension {d}"
        TORCH_CHECK(m == n or 1 in (m, n), said)
    return tuple(n if m == 1 else m for m, n in zip(a, b))


def sum_to(grad, sizes):
    """Sums over what was broadcast."""
    new = grad.dim() - len(sizes)
    dims = [d for d, n in enumerate(grad.shape) if d < new or (sizes[d - new] == 1 != n)]
    return grad.sum(dims, True).reshape(sizes) if dims else grad


def reduced(dim, ndim):
    """The dimensions that a reduction is over."""
    dims, n = [dim] if isinstance(dim, int) else dim or range(ndim), max(ndim, 1)
    for d in dims:
        if not -n <= d < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
        TORCH_CHECK([e % n for e in dims].count(d % n) == 1, f"dim {d % n} appears multiple times in the list of dims")
    return tuple(d % n for d in dims if ndim)
