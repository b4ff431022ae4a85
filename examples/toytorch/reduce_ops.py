"""Reductions and products of matrices (aten/src/ATen/native/ReduceOps.cpp, LinearAlgebra.cpp)."""

import numpy as np

from .dispatch import library
from .factories import empty
from .storage import TORCH_CHECK, int64
from .tensor_shape import expand, wrap_dim


def structured(function):
    """Registers a function that checks its arguments and returns sizes and dtype of the result, which is all that Meta
    needs, and what the CPU computes from the arrays (torch's structured kernels have a `meta` and an `impl`)."""

    def kernel(*args):
        sizes, dtype, impl = function(*args)
        out = empty(sizes, dtype, args[0].device)
        if out.device == "cpu":
            with np.errstate(all="ignore"):
                out.array()[...] = impl(*(arg.array() for arg in args if hasattr(arg, "array")))
        return out

    library("Meta", function.__name__, function)(kernel)
    return library("CPU", function.__name__, function)(kernel)


def reduced(self, dim, keepdim):
    """The dims that a reduction goes over, and the sizes of its result."""
    dims = [*range(self.dim())] if dim in (None, (), []) else [dim] if isinstance(dim, int) else dim
    axes = tuple(wrap_dim(d, self.dim()) for d in dims)
    for d in axes:
        TORCH_CHECK(axes.count(d) == 1, f"dim {d} appears multiple times in the list of dims")
    sizes = [1 if d in axes else n for d, n in enumerate(self.shape) if keepdim or d not in axes]
    return axes if self.dim() else (), sizes


@structured
def sum(self, dim=None, keepdim=False, dtype=None):
    axes, sizes = reduced(self, dim, keepdim)
    dtype = dtype or (self.dtype if self.dtype.is_floating_point else int64)
    return sizes, dtype, lambda a: a.sum(axes, dtype.numpy, keepdims=keepdim)


@structured
def mean(self, dim=None, keepdim=False, dtype=None):
    (axes, sizes), result = reduced(self, dim, keepdim), dtype or self.dtype
    said = f"mean(): could not infer output dtype. {'Optional' if dtype else 'Input'} dtype must be either a floating "
    TORCH_CHECK(result.is_floating_point, f"{said}point or complex dtype. Got: {result.scalar_type}")
    return sizes, result, lambda a: a.mean(axes, result.numpy, keepdims=keepdim)


@structured
def amax(self, dim=(), keepdim=False):
    axes, sizes = reduced(self, dim, keepdim)
    TORCH_CHECK(
        self.numel() or dim,
        "amax(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
        "reduction dim with the 'dim' argument.",
    )
    empty_dims = [d for d in axes if self.shape[d] == 0]
    said = f"amax(): Expected reduction dim {empty_dims} to have non-zero size."
    TORCH_CHECK(not empty_dims, said.replace("[", "").replace("]", ""), IndexError)
    return sizes, self.dtype, lambda a: a.max(axes, keepdims=keepdim)


def matmul_sizes(mat1, mat2):
    TORCH_CHECK(mat1.dim() == 2, "self must be a matrix")
    TORCH_CHECK(mat2.dim() == 2, "mat2 must be a matrix")
    shapes = ["x".join(map(str, mat.shape)) for mat in (mat1, mat2)]
    TORCH_CHECK(
        mat1.shape[1] == mat2.shape[0], f"mat1 and mat2 shapes cannot be multiplied ({shapes[0]} and {shapes[1]})"
    )
    said = f"expected m1 and m2 to have the same dtype, but got: {mat1.dtype.c_name} != {mat2.dtype.c_name}"
    TORCH_CHECK(mat1.dtype is mat2.dtype, said)
    return mat1.shape[0], mat2.shape[1]


@structured
def mm(self, mat2):
    return matmul_sizes(self, mat2), self.dtype, lambda a, b: a @ b


@structured
def addmm(self, mat1, mat2, beta=1, alpha=1):
    sizes = matmul_sizes(mat1, mat2)
    expand(self, *sizes)  # or it raises
    return sizes, self.dtype, lambda bias, a, b: beta * bias + alpha * (a @ b)


@structured
def _log_softmax(self, dim):
    axis = wrap_dim(dim, self.dim()) if self.dim() else None
    shifted = lambda a: a - a.max(axis, keepdims=True, initial=-np.inf)  # noqa: E731
    return self.shape, self.dtype, lambda a: shifted(a) - np.log(np.exp(shifted(a)).sum(axis, keepdims=True))
