"""Functions of layers, made of other operators (torch/nn/functional.py, aten/src/ATen/native/Linear.cpp)."""

import math

from .dispatch import aten, library
from .storage import TORCH_CHECK

composite = library("CompositeImplicitAutograd")


@composite
def matmul(self, other):
    """Of vectors and matrices. More dimensions of the first become rows."""
    TORCH_CHECK(self.dim() and 1 <= other.dim() <= 2, "toytorch multiplies by vectors and matrices only")
    left = self.reshape(math.prod(self.shape[:-1]), self.shape[-1])
    right = other.unsqueeze(1) if other.dim() == 1 else other
    return left.mm(right).reshape(self.shape[:-1] + other.shape[1:])


@composite
def linear(input, weight, bias=None):
    if bias is not None and input.dim() == 2:
        return aten.addmm(bias, input, weight.t())
    return input.matmul(weight.t()) if bias is None else input.matmul(weight.t()) + bias


@composite
def log_softmax(input, dim, dtype=None):
    return aten._log_softmax(input if dtype is None else input.to(dtype), dim)


def relu(input):
    return aten.relu(input)


def nll_loss(input, target, weight=None, ignore_index=-100, reduction="mean"):
    return aten.nll_loss(input, target, weight, reduction, ignore_index)


def cross_entropy(input, target, weight=None, ignore_index=-100, reduction="mean"):
    return nll_loss(input.log_softmax(min(1, input.dim() - 1)), target, weight, ignore_index, reduction)
