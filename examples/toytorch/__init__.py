"""Read this torch in order: _tensor dispatch memory factories view ops autograd derivatives nn optim trace compile."""

from functools import partial

from . import ops, derivatives  # isort: skip  (nn needs the operators that ops registers)
from . import autograd, memory, nn, optim
from ._tensor import Tensor, float32, int64
from ._tensor import bool_ as bool
from .compile import OptimizedModule
from .dispatch import GradMode, aten
from .factories import manual_seed, tensor

compile = OptimizedModule
no_grad, enable_grad = partial(GradMode, False), partial(GradMode, True)
zeros, ones = partial(aten.full, fill_value=0.0), partial(aten.full, fill_value=1.0)


def publish():  # makes operators functions here and, by Operator.__get__, methods: all, also those added since
    for name, op in vars(aten).items():
        setattr(Tensor, name, op)
        globals().setdefault(name, op)


publish()
Tensor.backward = autograd.backward
Tensor.__add__ = Tensor.__radd__ = aten.add
Tensor.__mul__ = Tensor.__rmul__ = aten.mul
Tensor.__sub__, Tensor.__truediv__, Tensor.__matmul__ = aten.sub, aten.div, aten.matmul
Tensor.__iadd__, Tensor.__isub__, Tensor.__imul__, Tensor.__itruediv__ = aten.add_, aten.sub_, aten.mul_, aten.div_
Tensor.__neg__, Tensor.__eq__, Tensor.__gt__ = aten.neg, aten.eq, aten.gt
Tensor.__rsub__ = lambda self, other: (-self).add(other)
Tensor.__rtruediv__ = lambda self, other: aten.full(self.shape, other, device=self.device).div(self)
