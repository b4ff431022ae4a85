"""Operators that compute each element from those at its place, and what they share: broadcasting, dtypes, allocation
(aten/src/ATen/TensorIterator.cpp, native/BinaryOps.cpp, UnaryOps.cpp)."""

import itertools

import numpy as np

from ._tensor import Tensor
from .dispatch import library
from .factories import empty
from .storage import TORCH_CHECK, bool_, float32, result_type

POINTWISE = {}  # name -> its implementation on arrays
COMMON, FLOAT, COMPARE = "common", "float", "compare"  # the dtype of the result: the operands', a float, bool


def broadcast_shapes(a, b):
    shape = []
    for d, (m, n) in enumerate(itertools.zip_longest(a[::-1], b[::-1], fillvalue=1), 1):
        said = f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension "
        TORCH_CHECK(m == n or 1 in (m, n), f"{said}{max(len(a), len(b)) - d}")
        shape.insert(0, n if m == 1 else m)
    return tuple(shape)


class TensorIterator:
    def __init__(self, kind, operands, inplace):
        tensors = [one for one in operands if isinstance(one, Tensor)]
        self.shape = ()
        for one in tensors:
            self.shape = broadcast_shapes(self.shape, one.shape)
        devices = {one.device for one in tensors if one.dim()} or {tensors[0].device}
        TORCH_CHECK(len(devices) == 1, "Tensor on device cpu is not on the expected device meta!")
        common = result_type(*(one for one in operands if isinstance(one, (Tensor, bool, int, float))))
        self.common_dtype = float32 if kind == FLOAT and not common.is_floating_point else common
        dtype = bool_ if kind == COMPARE else self.common_dtype
        if inplace is not None:
            said = f"output with shape {list(inplace.shape)} doesn't match the broadcast shape {list(self.shape)}"
            TORCH_CHECK(inplace.shape == self.shape, said)
            said = f"result type {dtype.scalar_type} can't be cast to the desired output type "
            TORCH_CHECK(dtype.category <= inplace.dtype.category, said + inplace.dtype.scalar_type)
        self.output = empty(self.shape, dtype, devices.pop()) if inplace is None else inplace


def pointwise(name, kind, impl, check=lambda *operands: None):
    """Registers `name` and `name_` for CPU and Meta. All arguments are operands but alpha and value."""
    count = sum(arg not in ("alpha", "value") for arg in impl.__code__.co_varnames)

    def kernel(*args, inplace=None):
        check(*args)
        iterator = TensorIterator(kind, args[:count], inplace)
        if iterator.output.device == "cpu":
            cast = iterator.common_dtype.numpy
            arrays = [one.array().astype(cast, copy=False) if isinstance(one, Tensor) else one for one in args]
            with np.errstate(all="ignore"):
                iterator.output.array()[...] = impl(*arrays)
        return iterator.output

    POINTWISE[name] = impl
    for key in ("CPU", "Meta"):
        library(key, name, impl)(kernel)
        library(key, f"{name}_", impl)(lambda *args: kernel(*args, inplace=args[0]))


def no_bool(self):
    said = "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the "
    TORCH_CHECK(self.dtype is not bool_, said + "`~` or `logical_not()` operator instead.")


def no_bools(self, other, alpha):
    said = "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
    TORCH_CHECK({self.dtype, getattr(other, "dtype", None)} != {bool_}, said + "operator instead.")


pointwise("exp", FLOAT, lambda self: np.exp(self))
pointwise("log", FLOAT, lambda self: np.log(self))
pointwise("sqrt", FLOAT, lambda self: np.sqrt(self))
pointwise("sin", FLOAT, lambda self: np.sin(self))
pointwise("cos", FLOAT, lambda self: np.cos(self))
pointwise("tanh", FLOAT, lambda self: np.tanh(self))
pointwise("sigmoid", FLOAT, lambda self: 1 / (1 + np.exp(-self)))
pointwise("neg", COMMON, lambda self: -self, no_bool)
pointwise("relu", COMMON, lambda self: np.maximum(self, 0))
pointwise("threshold_backward", COMMON, lambda grad_output, self, threshold: np.where(self > threshold, grad_output, 0))
pointwise("add", COMMON, lambda self, other, alpha=1: self + alpha * other)
pointwise("sub", COMMON, lambda self, other, alpha=1: self - alpha * other, no_bools)
pointwise("mul", COMMON, lambda self, other: self * other)
pointwise("div", FLOAT, lambda self, other: np.true_divide(self, other))
pointwise("pow", COMMON, lambda self, exponent: np.power(self, exponent))
pointwise("maximum", COMMON, lambda self, other: np.maximum(self, other))
pointwise("clamp", COMMON, lambda self, min=None, max=None: np.clip(self, min, max))
pointwise("lerp", COMMON, lambda self, end, weight: self + weight * (end - self))
pointwise("addcmul", COMMON, lambda self, tensor1, tensor2, value=1: self + value * tensor1 * tensor2)
pointwise("addcdiv", COMMON, lambda self, tensor1, tensor2, value=1: self + value * tensor1 / tensor2)
pointwise("eq", COMPARE, lambda self, other: self == other)
pointwise("ne", COMPARE, lambda self, other: self != other)
pointwise("lt", COMPARE, lambda self, other: self < other)
pointwise("le", COMPARE, lambda self, other: self <= other)
pointwise("gt", COMPARE, lambda self, other: self > other)
pointwise("ge", COMPARE, lambda self, other: self >= other)
