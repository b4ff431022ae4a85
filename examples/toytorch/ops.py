"""Operators that compute, on the CPU and on meta (ATen/TensorIterator.cpp, native/BinaryOps.cpp, ReduceOps.cpp)."""

import itertools

import numpy as np

from ._tensor import Tensor
from .dispatch import library
from .factories import assert_no_internal_overlap, empty
from .storage import TORCH_CHECK, bool_, float32, int64, result_type
from .view import wrap_dim

POINTWISE = {}  # name -> its implementation on arrays


# --8<-- [start:structured]
def structured(meta, name=None, schema=None, inplace=False):
    """Registers an operator. `meta` checks the arguments and returns sizes and dtype of the result, all that a meta
    tensor needs, and what the CPU computes from the arrays (torchgen's structured kernels have `meta` and `impl`)."""

    def kernel(*args):
        sizes, dtype, impl = meta(*args)
        device = next(arg.device for arg in args if isinstance(arg, Tensor))
        out = args[0] if inplace else empty(sizes, dtype, device)
        said = f"output with shape {list(out.shape)} doesn't match the broadcast shape {list(sizes)}"
        TORCH_CHECK(out.shape == tuple(sizes), said)
        said = f"result type {dtype.scalar_type} can't be cast to the desired output type {out.dtype.scalar_type}"
        TORCH_CHECK(dtype.category <= out.dtype.category, said)
        if inplace:
            assert_no_internal_overlap(out)
        if device == "cpu":
            with np.errstate(all="ignore"):
                out.array()[...] = impl(*(arg.array() if isinstance(arg, Tensor) else arg for arg in args))
        return out

    name, schema = name or meta.__name__, schema or meta
    library("CPU", name, schema)(kernel)
    return library("Meta", name, schema)(kernel)
    # --8<-- [end:structured]


def broadcast_shapes(a, b):
    shape = []
    for d, (m, n) in enumerate(itertools.zip_longest(a[::-1], b[::-1], fillvalue=1), 1):
        said = f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension "
        TORCH_CHECK(m == n or 1 in (m, n), f"{said}{max(len(a), len(b)) - d}")
        shape.insert(0, n if m == 1 else m)
    return tuple(shape)


def pointwise(name, impl, least=bool_, result=None):
    """Registers `name` and `name_`. The computation has the dtype of the operands, or float32 if that is `least`."""
    operands = len([arg for arg in impl.__code__.co_varnames if arg != "alpha"])

    def meta(*args):
        tensors, sizes = [one for one in args if isinstance(one, Tensor)], ()
        for one in tensors:
            sizes = broadcast_shapes(sizes, one.shape)
        same = len({one.device for one in tensors}) == 1
        TORCH_CHECK(same, "Tensor on device cpu is not on the expected device meta!")
        dtype = result_type(*args[:operands])
        TORCH_CHECK((dtype, least) != (bool_, int64), f"{name}: bool tensors are not supported")
        dtype = max(dtype, least, key=lambda kind: kind.category)
        cast = lambda a: a.astype(dtype.numpy, copy=False) if isinstance(a, np.ndarray) else a  # noqa: E731
        return sizes, result or dtype, lambda *arrays: impl(*map(cast, arrays))

    POINTWISE[name] = impl
    structured(meta, name, impl)
    structured(meta, f"{name}_", impl, inplace=True)


pointwise("exp", lambda self: np.exp(self), float32)
pointwise("log", lambda self: np.log(self), float32)
pointwise("sqrt", lambda self: np.sqrt(self), float32)
pointwise("tanh", lambda self: np.tanh(self), float32)
pointwise("neg", lambda self: -self, int64)
pointwise("relu", lambda self: np.maximum(self, 0), int64)
pointwise("threshold_backward", lambda grad_output, self, threshold: np.where(self > threshold, grad_output, 0))
pointwise("add", lambda self, other, alpha=1: self + alpha * other)
pointwise("sub", lambda self, other, alpha=1: self - alpha * other, int64)
pointwise("mul", lambda self, other: self * other)
pointwise("div", lambda self, other: np.true_divide(self, other), float32)
pointwise("pow", lambda self, exponent: np.power(self, exponent), int64)
pointwise("eq", lambda self, other: self == other, result=bool_)
pointwise("gt", lambda self, other: self > other, result=bool_)


def reduction(name, compute, dtype_of):
    def meta(self, dim=None, keepdim=False):
        dims = range(self.dim()) if dim in (None, (), []) else [dim] if isinstance(dim, int) else dim
        axes, dtype = tuple(wrap_dim(d, self.dim()) for d in dims), dtype_of(self.dtype)
        sizes = [1 if d in axes else n for d, n in enumerate(self.shape) if keepdim or d not in axes]
        said = f"{name}(): could not infer output dtype. Input dtype must be either a floating point or complex dtype."
        TORCH_CHECK(dtype, f"{said} Got: {self.dtype.scalar_type}")
        TORCH_CHECK(len(set(axes)) == len(axes), f"a dim appears multiple times in the list of dims {axes}")
        return sizes, dtype, lambda a, *_: compute(a, axes if a.ndim else (), dtype.numpy, keepdims=keepdim)

    structured(meta, name, meta)


reduction("sum", np.sum, lambda dtype: dtype if dtype.is_floating_point else int64)
reduction("mean", np.mean, lambda dtype: dtype if dtype.is_floating_point else None)
