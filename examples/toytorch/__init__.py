"""A torch in Python and NumPy that a reader can hold in their head: torch's names, its structure and its numbers."""

import functools

from . import (
    _dynamo,
    autograd,
    functional,
    loss_nll,
    nn,
    optim,
    pointwise,
    random,
    reduce_ops,
    tensor_shape,
    variable,
    view,
)
from ._dynamo import compile
from ._tensor import Size, Tensor
from .dispatch import aten
from .factories import factory, full, tensor
from .random import manual_seed
from .storage import bool_ as bool
from .storage import float32, float64, int64
from .variable import GradMode

no_grad, enable_grad = functools.partial(GradMode, False), functools.partial(GradMode, True)
nn.functional, zeros, ones, randn = functional, factory(full, 0.0), factory(full, 1.0), factory(aten.randn)
long, float, double = int64, float32, float64
variable.register(tensor_shape.VIEWS)


def method(operator):
    return lambda self, *args, **kwargs: operator(self, *args, **kwargs)


for name, operator in vars(aten).items():
    setattr(Tensor, name, method(operator))
    globals().setdefault(name, operator)
for name in "add sub mul pow matmul neg eq ne lt le gt ge".split():
    setattr(Tensor, f"__{name}__", vars(Tensor)[name])
Tensor.__truediv__, Tensor.__radd__, Tensor.__rmul__ = Tensor.div, Tensor.add, Tensor.mul
Tensor.__getitem__ = view.index
Tensor.__rsub__ = lambda self, other: (-self).add(other)
Tensor.__hash__, Tensor.backward = object.__hash__, autograd.backward
