"""Views: other sizes, strides and offset on the same storage (ATen/native/TensorShape.cpp, ATen/ExpandUtils.h)."""

import math
from functools import wraps

import numpy as np

from ._tensor import TORCH_CHECK, Tensor
from .dispatch import aten, library


def view_op(function):
    """Registers a view, by its sizes, strides and offset. It needs no data: one kernel serves CPU and Meta."""

    @wraps(function)
    def kernel(self, *args):
        return Tensor(self.storage, self.dtype, *function(self, *args))

    return library("CompositeExplicitAutograd")(kernel)


@view_op
def detach(self):
    return self.shape, self.strides, self.offset


@view_op
def t(self):
    TORCH_CHECK(self.dim() <= 2, f"t() expects a tensor with <= 2 dimensions, but self is {self.dim()}D")
    return self.shape[::-1], self.strides[::-1], self.offset


@view_op
def expand(self, size):
    """A dimension of size 1 gets any size, with stride 0: each step along it comes to the same element."""
    leading = len(size) - self.dim()
    shape, strides = (1,) * leading + self.shape, (0,) * leading + self.strides  # as if size 1 came before
    sizes = [own if n == -1 else n for n, own in zip(size, shape)]  # -1 leaves a size as it is
    fits = all(n >= 0 and own in (1, n) for n, own in zip(sizes, shape)) and leading >= 0 and -1 not in size[:leading]
    TORCH_CHECK(fits, f"expand: a tensor of size {list(self.shape)} does not expand to {list(size)}")
    return sizes, [step if n == own else 0 for n, own, step in zip(sizes, shape, strides)], self.offset


@view_op
def view(self, size):
    others = math.prod(n for n in size if n != -1)
    sizes = [self.numel() // others if n == -1 and others > 0 else n for n in size]
    fits = math.prod(sizes) == self.numel() and min(sizes, default=0) >= 0 and list(size).count(-1) <= 1
    TORCH_CHECK(fits, f"shape '{list(size)}' is invalid for input of size {self.numel()}")
    # We ask NumPy, which refuses what torch refuses, with an array of bytes: its strides, in bytes, are our strides. No
    # element is read, so it needs no memory.
    like_self = np.lib.stride_tricks.as_strided(np.empty(1, bool), self.shape, self.strides)
    try:
        return sizes, np.reshape(like_self, sizes, copy=False).strides, self.offset
    except ValueError:
        said = "view size is not compatible with input tensor's size and stride (at least one dimension spans across "
        raise RuntimeError(f"{said}two contiguous subspaces). Use .reshape(...) instead.") from None


@library("CompositeImplicitAutograd")
def reshape(self, size):
    try:
        return aten.view(self, size)
    except RuntimeError:
        return aten.view(aten.clone(self), size)


def broadcast_shapes(a, b):  # the sizes of both together, compared from the last one on; a missing one counts as 1
    ndim = max(len(a), len(b))
    a, b = [(1,) * (ndim - len(sizes)) + tuple(sizes) for sizes in (a, b)]
    for d, m, n in reversed([*zip(range(ndim), a, b)]):
        said = f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension {d}"
        TORCH_CHECK(m == n or 1 in (m, n), said)
    return tuple(n if m == 1 else m for m, n in zip(a, b))


def sum_to(grad, sizes):
    """Sums over what was broadcast: the gradient of an operand has the sizes of the operand."""
    if grad.shape == sizes:
        return grad
    new = grad.dim() - len(sizes)
    dims = [d for d in range(grad.dim()) if d < new or sizes[d - new] == 1]
    return grad.sum(dims, True).reshape(sizes)


def reduced(dim, ndim):  # the dimensions that a reduction is over: all, if it names none
    dims = [dim] if isinstance(dim, int) else (dim or range(ndim))
    n = max(ndim, 1)  # 0 and -1 are allowed where there is no dimension
    said = "Dimension out of range (expected to be in range of [{}, {}], but got {})"
    for d in dims:
        TORCH_CHECK(-n <= d < n, said.format(-n, n - 1, d), IndexError)
    dims = [d % n for d in dims]  # a negative one counts from the end
    for d in dims:
        TORCH_CHECK(dims.count(d) == 1, f"dim {d} appears multiple times in the list of dims")
    return tuple(dims) if ndim else ()
