"""How each operator is derived. Every name in a formula is saved for backward (tools/autograd/derivatives.yaml; the
functions are those of torch/csrc/autograd/FunctionsManual.cpp)."""

import math  # noqa: F401 - a formula uses it

from .dispatch import aten

DERIVATIVES = """
_log_softmax: self = grad - result.exp() * grad.sum(dim, True)
_to_copy: self = grad
add: self = grad; other = grad * alpha
addmm: self = grad; mat1 = grad.mm(mat2.t()); mat2 = mat1.t().mm(grad)
clone: self = grad
copy_: self = grad * 0; src = grad
div: self = grad / other; other = -grad * ((self / other) / other)
exp: self = grad * result
expand: self = grad
log: self = grad / self
mean: self = sum_backward(grad, self_sizes, dim, keepdim) * (grad.numel() / max(math.prod(self_sizes), 1))
mm: self = grad.mm(mat2.t()); mat2 = self.t().mm(grad)
mul: self = grad * other; other = grad * self
neg: self = -grad
nll_loss: self = aten.nll_loss_backward(grad, self, target)
nll_loss_backward: grad_output = aten.nll_loss(grad, target)
pow: self = pow_backward(grad, self, exponent); exponent = grad * result * self.log()
relu: self = aten.threshold_backward(grad, result, 0)
select: self = into_zeros(grad, self_sizes, "select", dim, index)
slice: self = into_zeros(grad, self_sizes, "slice", dim, start, end, step)
sqrt: self = grad / (2 * result)
sub: self = grad; other = grad * -alpha
sum: self = sum_backward(grad, self_sizes, dim, keepdim)
t: self = grad.t()
tanh: self = grad * (1 - result * result)
threshold_backward: grad_output = aten.threshold_backward(grad, self, threshold)
view: self = grad.reshape(self_sizes)
zero_: self = grad * 0
"""
CODE = {}  # operator -> argument -> formula


def derivative(line):
    """Compiles a line of DERIVATIVES."""
    name, _, text = line.partition(": ")
    rules = (rule.split(" = ", 1) for rule in text.split("; "))
    CODE[name.removesuffix("_")] = {arg: compile(formula, "derivatives.yaml", "eval") for arg, formula in rules}


for line in DERIVATIVES.strip().splitlines():
    derivative(line)


def sum_to(grad, sizes):
    """Sums over what was broadcast (aten/src/ATen/ExpandUtils.h)."""
    new = grad.dim() - len(sizes)
    dims = [d for d, n in enumerate(grad.shape) if d < new or (sizes[d - new] == 1 != n)]
    return grad.sum(dims, True).reshape(sizes) if dims else grad


def pow_backward(grad, self, exponent):
    """At 0 the rule for x ** 0 would be 0 times infinity."""
    constant = isinstance(exponent, (int, float)) and exponent == 0
    return aten.zeros_like(grad) if constant else grad * exponent * self ** (exponent - 1)


def sum_backward(grad, sizes, dim, keepdim):
    dims = range(len(sizes)) if dim in (None, (), []) else [dim] if isinstance(dim, int) else dim
    dims = {d % len(sizes) for d in dims if sizes}
    grad = grad if keepdim else grad.reshape([1 if d in dims else n for d, n in enumerate(sizes)])
    return grad.expand(sizes)


def into_zeros(grad, sizes, view, *args):
    """Zeros, with the gradient where that view of them is (select_backward, slice_backward)."""
    zeros = aten.full(sizes, 0, grad.dtype, grad.device)
    getattr(aten, view)(zeros, *args).copy_(grad)
    return zeros


FUNCTIONS = globals()
