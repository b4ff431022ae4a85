"""Views: other sizes, strides and offset on the same storage (aten/src/ATen/native/TensorShape.cpp)."""

import math

from ._tensor import Tensor
from .dispatch import library
from .storage import TORCH_CHECK

VIEWS = set()


def view_op(name, impl):
    """A view needs no data: one kernel serves CPU and Meta. `impl` returns pairs of size and stride, and an offset."""

    def kernel(self, *args):
        dims, offset = impl(self, *args)
        return Tensor(self.storage, self.dtype, [n for n, _ in dims], [step for _, step in dims], offset)

    library("CompositeExplicitAutograd", name, impl)(kernel)
    VIEWS.add(f"aten::{name}")


def wrap_dim(dim, ndim):
    """The dim that a negative one stands for (c10/core/WrapDimMinimal.h)."""
    n = max(ndim, 1)
    said = f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})"
    TORCH_CHECK(-n <= dim < n, said, IndexError)
    return dim % n


def permute(self, *dims):
    order = [wrap_dim(d, self.dim()) for d in dims]
    said = "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
    said += f"ordering of dimensions i.e. input.dim() = {self.dim()} is not equal to len(dims) = {len(order)}"
    TORCH_CHECK(len(order) == self.dim(), said)
    TORCH_CHECK(len(set(order)) == len(order), "permute(): duplicate dims are not allowed.")
    return [self.dims()[d] for d in order], self.offset


def transpose(self, dim0, dim1):
    dims, a, b = self.dims(), wrap_dim(dim0, self.dim()), wrap_dim(dim1, self.dim())
    if dims:
        dims[a], dims[b] = dims[b], dims[a]
    return dims, self.offset


def t(self):
    TORCH_CHECK(self.dim() <= 2, f"t() expects a tensor with <= 2 dimensions, but self is {self.dim()}D")
    return self.dims()[::-1], self.offset


def expand(self, *size):
    new, dims = len(size) - self.dim(), []
    said = (
        f"expand(torch.{self.dtype.scalar_type}Tensor{{{list(self.shape)}}}, size={list(size)}): the number of sizes "
    )
    said += f"provided ({len(size)}) must be greater or equal to the number of dimensions in the tensor ({self.dim()})"
    TORCH_CHECK(new >= 0, said)
    for d, (n, (old, step)) in enumerate(zip(size, [(1, 0)] * new + self.dims())):
        said = f"The expanded size of the tensor ({n}) must match the existing size ({old}) at non-singleton "
        said += f"dimension {d}."
        TORCH_CHECK(
            n in (-1, old) or old == 1, f"{said}  Target sizes: {list(size)}.  Tensor sizes: {list(self.shape)}"
        )
        dims.append((old, step) if n in (-1, old) else (n, 0))
    return dims, self.offset


def select(self, dim, index):
    TORCH_CHECK(self.dim(), "select() cannot be applied to a 0-dim tensor.", IndexError)
    dims, dim = self.dims(), wrap_dim(dim, self.dim())
    size, step = dims.pop(dim)
    said = f"select(): index {index} out of range for tensor of size {list(self.shape)} at dimension {dim}"
    TORCH_CHECK(-size <= index < size, said, IndexError)
    return dims, self.offset + index % size * step


def slice_(self, dim=0, start=None, end=None, step=1):
    TORCH_CHECK(step > 0, "step must be greater than zero", ValueError)
    dims, dim = self.dims(), wrap_dim(dim, self.dim())
    size, stride = dims[dim]
    kept = range(size)[start:end:step]
    dims[dim] = len(kept), stride * step
    return dims, self.offset + kept.start * stride


def squeeze(self, dim=None):
    dims = range(self.dim()) if dim is None else [dim] if isinstance(dim, int) else dim
    gone = {wrap_dim(d, self.dim()) for d in dims}
    return [one for d, one in enumerate(self.dims()) if d not in gone or one[0] != 1], self.offset


def unsqueeze(self, dim):
    dims, dim = self.dims(), wrap_dim(dim, self.dim() + 1)
    dims.insert(dim, (1, math.prod(dims[dim]) if dim < len(dims) else 1))
    return dims, self.offset


def infer_size(shape, numel):
    """The sizes, with the number that -1 stands for (aten/src/ATen/InferSize.h)."""
    known, said = math.prod(n for n in shape if n != -1), f"shape '{list(shape)}' is invalid for input of size {numel}"
    TORCH_CHECK(shape.count(-1) <= 1, "only one dimension can be inferred")
    if -1 in shape and known == numel == 0:
        said = (
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size -1 "
        )
        said += "can be any value and is ambiguous"
    TORCH_CHECK((known and numel % known == 0) if -1 in shape else known == numel, said)
    return tuple(numel // known if n == -1 else n for n in shape)
