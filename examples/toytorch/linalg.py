"""Products of matrices, and the loss of classes (aten/src/ATen/native/LinearAlgebra.cpp, SoftMax.cpp, LossNLL.cpp)."""

import numpy as np

from .dispatch import aten, library
from .ops import broadcast_shapes, structured
from .storage import TORCH_CHECK, int64
from .view import wrap_dim


def product_sizes(mat1, mat2):
    TORCH_CHECK(mat1.dim() == 2, "self must be a matrix")
    TORCH_CHECK(mat2.dim() == 2, "mat2 must be a matrix")
    (rows, inner), (n, columns) = mat1.shape, mat2.shape
    TORCH_CHECK(inner == n, f"mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and {n}x{columns})")
    said = f"expected m1 and m2 to have the same dtype, but got: {mat1.dtype} != {mat2.dtype}"
    TORCH_CHECK(mat1.dtype is mat2.dtype, said)
    return rows, columns


@structured
def mm(self, mat2):
    return product_sizes(self, mat2), self.dtype, lambda a, b: a @ b


@structured
def addmm(self, mat1, mat2):
    sizes = product_sizes(mat1, mat2)
    fits = broadcast_shapes(self.shape, sizes) == sizes
    TORCH_CHECK(fits, f"addmm(): {list(self.shape)} cannot be expanded to {list(sizes)}")
    return sizes, self.dtype, lambda bias, a, b: bias + a @ b


library("CompositeImplicitAutograd", "matmul")(lambda self, other: aten.mm(self, other))


@library("CompositeImplicitAutograd")
def linear(input, weight, bias=None):
    return input.mm(weight.t()) if bias is None else aten.addmm(bias, input, weight.t())


@structured
def _log_softmax(self, dim):
    axis = wrap_dim(dim, self.dim())

    def impl(a, _):
        a = a - a.max(axis, keepdims=True, initial=-np.inf)
        return a - np.log(np.exp(a).sum(axis, keepdims=True))

    return self.shape, self.dtype, impl


@structured
def nll_loss(self, target):
    """The mean of what the rows have at their targets, negative."""
    TORCH_CHECK(self.dim() == 2 and target.dtype is int64, "toytorch picks classes from rows only", NotImplementedError)
    (rows, classes), targets = self.shape, *target.shape
    said = f"Expected input batch_size ({rows}) to match target batch_size ({targets})."
    TORCH_CHECK(rows == targets, said, ValueError)

    def impl(a, target):
        for wrong in target[(target < 0) | (target >= classes)]:
            raise IndexError(f"Target {wrong} is out of bounds.")
        return -a[range(rows), target].mean()

    return (), self.dtype, impl


@structured
def nll_loss_backward(grad_output, self, target):
    def impl(grad, a, target):
        out = np.zeros_like(a)
        out[range(len(a)), target] = -grad / len(a)
        return out

    return self.shape, self.dtype, impl
