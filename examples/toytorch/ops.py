"""Operators that compute, on the CPU and on meta (ATen/TensorIterator.cpp, native/BinaryOps.cpp, LinearAlgebra.cpp)."""

from functools import wraps

import numpy as np

from ._tensor import NAMES, TORCH_CHECK, Tensor, bool_, float32, int64
from .dispatch import library
from .factories import empty, promote, write
from .view import broadcast_shapes, reduced

IMPL, POINTWISE = {}, set()  # operator -> what it computes from arrays; those that take element by element


def structured(name, meta, impl):
    """Registers an operator (torchgen's structured kernels). `meta` checks the arguments and returns sizes and dtype of
    the result, which is all of a meta tensor. `impl` computes from arrays."""

    @wraps(impl)  # whose parameters are the schema
    def kernel(*args):
        device, *others = [arg.device for arg in args if isinstance(arg, Tensor)]
        for other in others:
            TORCH_CHECK(other == device, f"Tensor on device {other} is not on the expected device {device}!")
        sizes, dtype = meta(*args)
        out = args[0] if name.endswith("_") else empty(sizes, dtype, device)
        check_writable(out, sizes, dtype)
        if out.device == "meta":
            return out
        arrays = [arg.array() if isinstance(arg, Tensor) else arg for arg in args]
        with np.errstate(all="ignore"):
            return write(out, impl(*arrays))

    IMPL[name] = impl
    for key in ("CPU", "Meta"):
        library(key, name)(kernel)


def check_writable(out, sizes, dtype):  # whether a result of these sizes and this dtype can be written to a tensor
    same = out.shape == tuple(sizes)
    TORCH_CHECK(same, f"output with shape {list(out.shape)} doesn't match the broadcast shape {list(sizes)}")
    holds = np.can_cast(dtype, out.dtype, "same_kind")
    TORCH_CHECK(holds, f"result type {NAMES[dtype]} can't be cast to the desired output type {NAMES[out.dtype]}")
    expanded = any(n > 1 and step == 0 for n, step in zip(out.shape, out.strides))
    said = "unsupported operation: more than one element of the written-to tensor refers to a single memory location."
    TORCH_CHECK(not expanded, f"{said} Please clone() the tensor before performing the operation.")


def pointwise(name, impl, out_dtype=None, takes_bool=True):
    """Registers an operator that computes element by element, and in place, too, if it is no comparison."""

    def meta(a, b=False, alpha=0):  # exp(a), mul(a, b), add(a, b, alpha); of threshold_backward, alpha is the threshold
        dtype = out_dtype or promote(a, b)  # the highest of both; where there is no b, False is the lowest
        TORCH_CHECK(takes_bool or dtype != bool_, f"{name}: bool tensors are not supported")
        alpha_fits = dtype == float32 or promote(alpha) != float32
        TORCH_CHECK(alpha_fits, "For integral input tensors, argument alpha must not be a floating point number.")
        return broadcast_shapes(a.shape, getattr(b, "shape", ())), dtype

    POINTWISE.add(name)
    structured(name, meta, impl)
    if out_dtype != bool_:
        structured(f"{name}_", meta, impl)


pointwise("exp", lambda self: np.exp(self, dtype=float32), float32)
pointwise("log", lambda self: np.log(self, dtype=float32), float32)
pointwise("sqrt", lambda self: np.sqrt(self, dtype=float32), float32)
pointwise("tanh", lambda self: np.tanh(self, dtype=float32), float32)
pointwise("neg", lambda self: -self, takes_bool=False)
pointwise("relu", lambda self: np.maximum(self, 0), takes_bool=False)
pointwise("threshold_backward", lambda grad_output, self, threshold: np.where(self <= threshold, 0, grad_output))
pointwise("add", lambda self, other, alpha=1: self + alpha * other)
pointwise("sub", lambda self, other, alpha=1: self - alpha * other, takes_bool=False)
pointwise("mul", lambda self, other: self * other)
pointwise("div", lambda self, other: np.true_divide(self, other), float32)
pointwise("eq", lambda self, other: self == other, bool_)
pointwise("gt", lambda self, other: self > other, bool_)


def sum_meta(self, dim, keepdim):
    dims = reduced(dim, self.dim())
    sizes = [1 if d in dims else n for d, n in enumerate(self.shape) if keepdim or d not in dims]
    return sizes, int64 if self.dtype == bool_ else self.dtype


structured("sum", sum_meta, lambda self, dim=None, keepdim=False: self.sum(reduced(dim, self.ndim), keepdims=keepdim))


def mm_meta(self, mat2):
    TORCH_CHECK(self.dim() == 2, "self must be a matrix")
    TORCH_CHECK(mat2.dim() == 2, "mat2 must be a matrix")
    (rows, inner), (n, columns) = self.shape, mat2.shape
    TORCH_CHECK(inner == n, f"mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and {n}x{columns})")
    same = self.dtype == mat2.dtype
    TORCH_CHECK(same, f"expected m1 and m2 to have the same dtype, but got: {self.dtype} != {mat2.dtype}")
    return (rows, columns), self.dtype


structured("mm", mm_meta, lambda self, mat2: self @ mat2)
library("CompositeImplicitAutograd", "matmul")(lambda self, other: self.mm(other))


def log_softmax_impl(self, dim):
    said = f"\"log_softmax_lastdim_kernel_impl\" not implemented for '{NAMES[self.dtype]}'"
    TORCH_CHECK(self.dtype == float32, said, NotImplementedError)
    shifted = self - self.max(dim, keepdims=True)  # so that exp is not infinite
    return shifted - np.log(np.exp(shifted).sum(dim, keepdims=True))


structured("_log_softmax", lambda self, dim: (self.shape, self.dtype), log_softmax_impl)
