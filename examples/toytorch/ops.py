"""Operators that compute, on the CPU and on meta (ATen/TensorIterator.cpp, native/BinaryOps.cpp, LinearAlgebra.cpp)."""

import numpy as np

from ._tensor import NAMES, TORCH_CHECK, Tensor, bool_, float32, int64
from .dispatch import aten, library
from .factories import copy, empty, promote, tensor
from .view import broadcast_shapes, reduced

IMPL, POINTWISE = {}, set()  # operator -> what it computes from arrays; those that take element by element


# --8<-- [start:structured]
def structured(name, meta, impl, schema=None):
    """Registers an operator. `meta` checks the arguments and returns sizes and dtype of the result, all that a meta
    tensor needs, and `impl` computes it from arrays (torchgen's structured kernels have both)."""

    def kernel(*args):
        sizes, dtype = meta(*args)
        devices = {arg.device for arg in args if isinstance(arg, Tensor)}
        TORCH_CHECK(len(devices) == 1, "Tensor on device cpu is not on the expected device meta!")
        out = args[0] if name.endswith("_") else empty(sizes, dtype, args[0].device)
        fits = out.shape == sizes
        TORCH_CHECK(fits, f"output with shape {list(out.shape)} doesn't match the broadcast shape {list(sizes)}")
        fits = promote(out, dtype) == out.dtype
        TORCH_CHECK(fits, f"result type {NAMES[dtype]} can't be cast to the desired output type {NAMES[out.dtype]}")
        if out.device == "meta":
            return out
        with np.errstate(all="ignore"):
            return copy(out, impl(*(arg.array() if isinstance(arg, Tensor) else arg for arg in args)))

    if not name.endswith("_"):
        IMPL[name] = impl
    for key in ("CPU", "Meta"):
        library(key, name, schema or meta)(kernel)
    # --8<-- [end:structured]


def pointwise(name, impl, least=bool_, result=None):
    """Registers `name` and `name_`. The result has the highest dtype among two operands and `least`. The names of the
    parameters of `impl` are those of the operator: DERIVATIVES uses them."""

    def meta(self, other=False, *options):  # False for no operand: it has the lowest dtype
        if least == int64:
            TORCH_CHECK(promote(self, other) != bool_, f"{name}: bool tensors are not supported")
        return broadcast_shapes(self.shape, getattr(other, "shape", ())), result or promote(self, other, least)

    POINTWISE.add(name)
    structured(name, meta, impl, impl)
    structured(f"{name}_", meta, impl, impl)


pointwise("exp", lambda self: np.exp(self, dtype=float32), float32)
pointwise("log", lambda self: np.log(self, dtype=float32), float32)
pointwise("sqrt", lambda self: np.sqrt(self, dtype=float32), float32)
pointwise("tanh", lambda self: np.tanh(self, dtype=float32), float32)
pointwise("neg", lambda self: -self, int64)
pointwise("relu", lambda self: np.maximum(self, 0), int64)
pointwise("threshold_backward", lambda grad_output, self, threshold: np.where(self > threshold, grad_output, 0))
pointwise("add", lambda self, other, alpha=1: self + alpha * other)
pointwise("sub", lambda self, other, alpha=1: self - alpha * other, int64)
pointwise("mul", lambda self, other: self * other)
pointwise("div", lambda self, other: np.true_divide(self, other), float32)
pointwise("eq", lambda self, other: self == other, result=bool_)
pointwise("gt", lambda self, other: self > other, result=bool_)


def sum(self, dim=None, keepdim=False):
    dims = reduced(dim, self.dim())
    sizes = [1 if d in dims else n for d, n in enumerate(self.shape) if keepdim or d not in dims]
    return tuple(sizes), promote(self, int64)


def mm(self, mat2):
    TORCH_CHECK(self.dim() == 2, "self must be a matrix")
    TORCH_CHECK(mat2.dim() == 2, "mat2 must be a matrix")
    (rows, inner), (n, columns) = self.shape, mat2.shape
    TORCH_CHECK(inner == n, f"mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and {n}x{columns})")
    same = self.dtype == mat2.dtype
    TORCH_CHECK(same, f"expected m1 and m2 to have the same dtype, but got: {self.dtype} != {mat2.dtype}")
    return (rows, columns), self.dtype


def log_softmax(a, dim):
    said = f"\"log_softmax_lastdim_kernel_impl\" not implemented for '{NAMES[a.dtype]}'"
    TORCH_CHECK(a.dtype == float32, said, NotImplementedError)
    a = a - a.max(dim, keepdims=True)
    return a - np.log(np.exp(a).sum(dim, keepdims=True))


def select_backward(grad_output, input_sizes, index):
    grad_input = np.zeros(input_sizes, float32)
    grad_input[index] = grad_output
    return grad_input


structured("sum", sum, lambda a, dim, keepdim: a.sum(reduced(dim, a.ndim), keepdims=keepdim))
structured("mm", mm, lambda a, b: a @ b)
structured("_log_softmax", lambda self, dim: (self.shape, self.dtype), log_softmax)
structured("select_backward", lambda grad_output, input_sizes, index: (input_sizes, float32), select_backward)


@library("CompositeImplicitAutograd")
def nll_loss(self, target):
    """The mean of what the rows have at their targets, negative."""
    TORCH_CHECK(self.dim() == 2 and target.dtype == int64, "toytorch picks classes from rows only", NotImplementedError)
    (rows, classes), (n,) = self.shape, target.shape
    TORCH_CHECK(rows == n, f"Expected input batch_size ({rows}) to match target batch_size ({n}).", ValueError)
    for at in target.array():
        TORCH_CHECK(0 <= at < classes, f"Target {at} is out of bounds.", IndexError)
    return (self * (target.reshape((n, 1)) == tensor(range(classes)))).sum() / -n


library("CompositeImplicitAutograd", "matmul")(lambda self, other: aten.mm(self, other))


@library("CompositeImplicitAutograd")
def linear(input, weight, bias=None):
    product = input.mm(weight.t())
    return product if bias is None else product + bias
