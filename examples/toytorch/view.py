"""Views: other sizes, strides and offset on the same storage (aten/src/ATen/native/TensorShape.cpp)."""

import math

from ._tensor import Tensor, row_major
from .dispatch import aten, library
from .storage import TORCH_CHECK

VIEWS = set()


def view_op(function):
    """A view needs no data: one kernel serves CPU and Meta. The function returns sizes, strides and offset."""
    VIEWS.add(function.__name__)
    kernel = lambda self, *args: Tensor(self.storage, self.dtype, *function(self, *args))  # noqa: E731
    return library("CompositeExplicitAutograd", function.__name__, function)(kernel)


def wrap_dim(dim, ndim):
    """The dim that a negative one stands for (c10/core/WrapDimMinimal.h)."""
    n = max(ndim, 1)
    said = f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})"
    TORCH_CHECK(-n <= dim < n, said, IndexError)
    return dim % n


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
def select(self, dim, index):
    d = wrap_dim(dim, self.dim())
    size, start = self.shape[d], self.offset + index % max(self.shape[d], 1) * self.strides[d]
    said = f"index {index} is out of bounds for dimension {d} with size {size}"
    TORCH_CHECK(-size <= index < size, said, IndexError)
    return self.shape[:d] + self.shape[d + 1 :], self.strides[:d] + self.strides[d + 1 :], start


@view_op
def slice(self, dim=0, start=None, end=None, step=1):
    TORCH_CHECK(step > 0, "step must be greater than zero", ValueError)
    d, sizes, strides = wrap_dim(dim, self.dim()), list(self.shape), list(self.strides)
    kept = range(sizes[d])[start:end:step]
    sizes[d], strides[d] = len(kept), strides[d] * step
    return sizes, strides, self.offset + kept.start * self.strides[d]


@view_op
def expand(self, size):
    new = len(size) - self.dim()
    TORCH_CHECK(new >= 0, f"expand: {list(size)} has fewer dimensions than the tensor ({self.dim()})")
    old = (1,) * new + self.shape
    sizes = [mine if n == -1 else n for n, mine in zip(size, old)]
    for d, (n, mine) in enumerate(zip(sizes, old)):
        said = f"The expanded size of the tensor ({n}) must match the existing size ({mine}) at non-singleton dimension"
        TORCH_CHECK(mine in (1, n), f"{said} {d}.  Target sizes: {list(size)}.  Tensor sizes: {list(self.shape)}")
    steps = (0,) * new + self.strides
    return sizes, [step if n == mine else 0 for n, mine, step in zip(sizes, old, steps)], self.offset


def compute_stride(self, shape):
    """The strides of a view, or None: from the last dimension on, a size must be found in neighbors that one stride
    serves (aten/src/ATen/TensorUtils.cpp)."""
    old, strides, found, step = [one for one in zip(self.shape, self.strides) if one[0] != 1], [], 1, 1
    for size in reversed(shape if self.numel() else ()):
        while found % size and old and (found == 1 or old[-1][1] == found * step):
            n, stride = old.pop()
            found, step = found * n, stride if found == 1 else step
        if found % size:
            return None
        strides.insert(0, step)
        found, step = found // size, step * size
    return strides or row_major(shape)


def infer_size(shape, numel):
    """The sizes, with the number that -1 stands for (aten/src/ATen/InferSize.h)."""
    known = math.prod(n for n in shape if n != -1)
    fits = known and numel % known == 0 and shape.count(-1) == 1 if -1 in shape else known == numel
    TORCH_CHECK(fits, f"shape '{list(shape)}' is invalid for input of size {numel}")
    return tuple(numel // known if n == -1 else n for n in shape)


@view_op
def view(self, size):
    shape = infer_size(size, self.numel())
    strides = compute_stride(self, shape)
    said = "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
    TORCH_CHECK(strides is not None, said + "contiguous subspaces). Use .reshape(...) instead.")
    return shape, strides, self.offset


@library("CompositeImplicitAutograd")
def reshape(self, shape):
    viewable = compute_stride(self, infer_size(shape, self.numel())) is not None
    return aten.view(self if viewable else aten.clone(self), shape)


def index(self, key):
    """x[1, :2] is a chain of views (torch/csrc/autograd/python_variable_indexing.cpp)."""
    result, dim = self, 0
    for one in key if isinstance(key, tuple) else (key,):
        TORCH_CHECK(dim < result.dim(), f"too many indices for tensor of dimension {self.dim()}", IndexError)
        if type(one) is int:
            result = aten.select(result, dim, one)
        else:
            said = f"toytorch has no index of type {type(one).__name__}"
            TORCH_CHECK(type(one).__name__ == "slice", said, NotImplementedError)
            result, dim = aten.slice(result, dim, one.start, one.stop, 1 if one.step is None else one.step), dim + 1
    return result
