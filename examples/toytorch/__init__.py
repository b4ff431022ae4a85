"""A torch in Python and NumPy that a reader can hold in their head: torch's names, its structure and its numbers."""

import functools

from . import ops, derivatives  # isort: skip
from . import autograd, memory, nn, optim, view
from ._tensor import Tensor, float32, int64
from ._tensor import bool_ as bool
from .compile import compile
from .dispatch import GradMode, aten
from .factories import manual_seed, tensor

no_grad, enable_grad = functools.partial(GradMode, False), functools.partial(GradMode, True)


def sized(op):
    """Python calls f(2, 3) or f((2, 3)), and an operator takes a tuple."""
    return lambda *size, **options: op(size[0] if size and isinstance(size[0], (tuple, list)) else size, **options)


def method(op):
    if op in (aten.view, aten.reshape, aten.expand):
        return lambda self, *size: sized(functools.partial(op, self))(*size)
    return lambda self, *args, **kwargs: op(self, *args, **kwargs)


def publish():
    """Makes all operators functions here and methods of tensors: also those added since."""
    for name, op in vars(aten).items():
        setattr(Tensor, name, method(op))
        globals().setdefault(name, op)


zeros = sized(lambda size, **options: aten.full(size, 0.0, **options))
ones = sized(lambda size, **options: aten.full(size, 1.0, **options))
randn = sized(aten.randn)
publish()
for name in "add sub mul matmul neg eq gt truediv".split():
    setattr(Tensor, f"__{name}__", vars(Tensor)[name.removeprefix("true")])
for name in "add sub mul truediv".split():
    setattr(Tensor, f"__i{name}__", vars(Tensor)[f"{name.removeprefix('true')}_"])
Tensor.__radd__, Tensor.__rmul__, Tensor.__rsub__ = Tensor.add, Tensor.mul, lambda self, other: (-self).add(other)
Tensor.__getitem__, Tensor.__hash__, Tensor.backward = view.index, object.__hash__, autograd.backward
