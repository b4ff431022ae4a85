"""`view` and `reshape`: when other sizes need no copy (aten/src/ATen/TensorUtils.cpp#computeStride)."""

from ._tensor import row_major
from .dispatch import aten, library
from .storage import TORCH_CHECK
from .tensor_shape import expand, infer_size, permute, select, slice_, squeeze, t, transpose, unsqueeze, view_op


def compute_stride(self, shape):
    """The strides of a view, or None. Neighbors that one stride serves are a run; no dimension may span two runs."""
    runs = []  # [elements, stride]
    for size, step in ((n, step) for n, step in self.dims() if n != 1):
        if runs and runs[-1][1] == size * step:
            runs[-1] = [runs[-1][0] * size, step]
        else:
            runs.append([size, step])
    strides, d = list(row_major(shape)), len(shape)
    for count, step in reversed(runs if self.numel() else []):
        walked = 1
        while walked < count:
            d -= 1
            strides[d] = walked * step
            walked *= shape[d]
        if walked > count:
            return None
    return strides


def view(self, *size):
    shape = infer_size(size, self.numel())
    strides = compute_stride(self, shape)
    said = "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
    TORCH_CHECK(strides is not None, said + "contiguous subspaces). Use .reshape(...) instead.")
    return list(zip(shape, strides)), self.offset


@library("CompositeImplicitAutograd")
def reshape(self, *shape):
    shape = infer_size(shape, self.numel())
    return aten.view(self if compute_stride(self, shape) is not None else aten.clone(self), shape)


def as_strided(self, size, stride, storage_offset=None):
    said = f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}"
    TORCH_CHECK(min(stride, default=0) >= 0, said)
    last = 1 + sum((n - 1) * step for n, step in zip(size, stride)) + (storage_offset or 0)
    enough = 0 in size or last * self.dtype.itemsize <= self.storage.nbytes()
    TORCH_CHECK(enough, f"setStorage: sizes {list(size)}, strides {list(stride)} are out of bounds for the storage")
    return list(zip(size, stride)), self.offset if storage_offset is None else storage_offset


@library("CompositeImplicitAutograd")
def contiguous(self):
    return self if self.is_contiguous() else aten.clone(self)


def index(self, key):
    """A chain of views (torch/csrc/autograd/python_variable_indexing.cpp)."""
    keys = list(key) if isinstance(key, tuple) else [key]
    given = sum(one is not None and one is not Ellipsis for one in keys)
    TORCH_CHECK(given <= self.dim(), f"too many indices for tensor of dimension {self.dim()}", IndexError)
    at = next((i for i, one in enumerate(keys) if one is Ellipsis), len(keys))
    keys[at : at + 1] = [slice(None)] * (self.dim() - given)
    result, dim = aten.alias(self), 0
    for one in keys:
        if type(one) is int:
            n, said = result.shape[dim], f"index {one} is out of bounds for dimension {dim} with size "
            TORCH_CHECK(-n <= one < n, f"{said}{n}", IndexError)
            result = aten.select(result, dim, one)
        elif isinstance(one, slice):
            result, dim = aten.slice(result, dim, one.start, one.stop, one.step or 1), dim + 1
        else:
            TORCH_CHECK(one is None, f"toytorch has no index of type {type(one).__name__}", NotImplementedError)
            result, dim = aten.unsqueeze(result, dim), dim + 1
    return result


for function in (permute, transpose, t, expand, select, squeeze, unsqueeze, view, as_strided):
    view_op(function.__name__, function)
view_op("slice", slice_)
view_op("detach", lambda self: (self.dims(), self.offset))
view_op("alias", lambda self: (self.dims(), self.offset))
