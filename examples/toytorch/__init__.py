"""A torch in Python and NumPy that a reader can hold in their head: torch's names, its structure and its numbers."""

from functools import partial

from . import ops, derivatives  # isort: skip
from . import autograd, memory, nn, optim, view
from ._tensor import Tensor, float32, int64
from ._tensor import bool_ as bool
from .compile import compile
from .dispatch import GradMode, aten
from .factories import manual_seed, tensor

no_grad, enable_grad = partial(GradMode, False), partial(GradMode, True)


def publish():
    """Makes all operators functions here and methods of tensors: also those added since."""
    for name, op in vars(aten).items():
        setattr(Tensor, name, op)
        globals().setdefault(name, op)


zeros, ones = partial(aten.full, fill_value=0.0), partial(aten.full, fill_value=1.0)
publish()
for name in "add sub mul matmul neg eq gt truediv".split():
    setattr(Tensor, f"__{name}__", vars(aten)[name.removeprefix("true")])
for name in "add sub mul truediv".split():
    setattr(Tensor, f"__i{name}__", vars(aten)[f"{name.removeprefix('true')}_"])
Tensor.__radd__, Tensor.__rmul__, Tensor.__rsub__ = aten.add, aten.mul, lambda self, other: (-self).add(other)
Tensor.__getitem__, Tensor.__hash__, Tensor.backward = view.index, object.__hash__, autograd.backward
