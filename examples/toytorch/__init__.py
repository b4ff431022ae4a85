"""A torch in Python and NumPy that a reader can hold in their head: torch's names, its structure and its numbers."""

import functools

from . import linalg, ops, variable  # isort: skip
from . import autograd, nn, optim, view
from ._tensor import Size, Tensor
from .compile import compile
from .dispatch import aten
from .factories import manual_seed, tensor
from .function import GradMode
from .storage import bool_ as bool
from .storage import float32, int64

no_grad, enable_grad = functools.partial(GradMode, False), functools.partial(GradMode, True)


def as_size(size):
    """Python calls f(2, 3) or f((2, 3)), and an operator takes a tuple."""
    return tuple(size[0]) if size and isinstance(size[0], (tuple, list)) else size


def factory(op, *fixed):
    def make(*size, requires_grad=False, **options):
        return op(as_size(size), *fixed, **options).requires_grad_(requires_grad)

    return make


def method(op):
    if op.name in ("aten::view", "aten::reshape", "aten::expand"):
        return lambda self, *size: op(self, as_size(size))
    return lambda self, *args, **kwargs: op(self, *args, **kwargs)


def publish():
    """Makes all operators functions here, methods of tensors, and known to autograd: also those added since."""
    variable.register()
    for name, op in vars(aten).items():
        setattr(Tensor, name, method(op))
        globals().setdefault(name, op)


publish()
for name in "add sub mul pow matmul neg eq gt".split():
    setattr(Tensor, f"__{name}__", vars(Tensor)[name])
Tensor.__truediv__, Tensor.__radd__, Tensor.__rmul__ = Tensor.div, Tensor.add, Tensor.mul
for name in ("add", "sub", "mul", "div"):
    setattr(Tensor, f"__i{name.replace('div', 'truediv')}__", vars(Tensor)[f"{name}_"])
Tensor.__rsub__ = lambda self, other: (-self).add(other)
Tensor.__getitem__, Tensor.__hash__, Tensor.backward = view.index, object.__hash__, autograd.backward
zeros, ones, randn = factory(aten.full, 0.0), factory(aten.full, 1.0), factory(aten.randn)
