"""How each operator is derived. Every name in a formula is saved for backward (tools/autograd/derivatives.yaml; the
functions are those of torch/csrc/autograd/FunctionsManual.cpp)."""

from .dispatch import aten

DERIVATIVES = """
_log_softmax: self = grad - result.exp() * grad.sum(dim, True)
_to_copy: self = grad
add: self = grad; other = maybe_multiply(grad, alpha)
addcdiv: self = grad; tensor1 = grad / tensor2 * value; tensor2 = -grad * value * (tensor1 / tensor2) / tensor2
addcmul: self = grad; tensor1 = grad * tensor2 * value; tensor2 = grad * tensor1 * value
addmm: self = maybe_multiply(grad, beta); mat1 = maybe_multiply(grad.mm(mat2.t()), alpha); \
mat2 = maybe_multiply(mat1.t().mm(grad), alpha)
alias: self = grad
amax: self = scale_grad_by_count(grad, self, result, dim, keepdim)
as_strided: self = into_zeros(grad, self_sizes, "as_strided", size, stride, storage_offset or 0)
clamp: self = clamp_backward(grad, self, min, max)
clone: self = grad
copy_: self = grad * 0; src = grad
cos: self = grad * -self.sin()
div: self = grad / other; other = -grad * ((self / other) / other)
exp: self = grad * result
expand: self = sum_to(grad, self_sizes)
fill_: self = grad * 0
lerp: self = grad * (1 - weight); end = grad * weight; weight = grad * (end - self)
log: self = grad / self
maximum: self = grad * ((self > other) + (self == other) / 2); other = grad * ((other > self) + (self == other) / 2)
mean: self = sum_backward(grad, self_sizes, dim, keepdim) / (self_numel / result_numel)
mm: self = grad.mm(mat2.t()); mat2 = self.t().mm(grad)
mul: self = grad * other; other = grad * self
neg: self = -grad
nll_loss: self = aten.nll_loss_backward(grad, self, target, weight, reduction, ignore_index)
permute: self = permute_backwards(grad, dims)
pow: self = grad * exponent * self ** (exponent - 1); exponent = grad * result * self.log()
relu: self = aten.threshold_backward(grad, result, 0)
select: self = into_zeros(grad, self_sizes, "select", dim, index)
sigmoid: self = grad * (1 - result) * result
sin: self = grad * self.cos()
slice: self = into_zeros(grad, self_sizes, "slice", dim, start, end, step)
sqrt: self = grad / (2 * result)
squeeze: self = grad.reshape(self_sizes)
sub: self = grad; other = -maybe_multiply(grad, alpha)
sum: self = sum_backward(grad, self_sizes, dim, keepdim)
t: self = grad.t()
tanh: self = grad * (1 - result * result)
threshold_backward: grad_output = aten.threshold_backward(grad, self, threshold)
transpose: self = grad.transpose(dim0, dim1)
unsqueeze: self = grad.reshape(self_sizes)
view: self = grad.reshape(self_sizes)
zero_: self = grad * 0
"""


def maybe_multiply(grad, number):
    return grad if number == 1 else grad * number


def sum_to(grad, sizes):
    """Sums over what was broadcast (aten/src/ATen/ExpandUtils.h)."""
    new = grad.dim() - len(sizes)
    dims = [d for d, n in enumerate(grad.shape) if d < new or (sizes[d - new] == 1 != n)]
    return grad.sum(dims, True).reshape(sizes) if dims else grad


def restore_reduced_dims(grad, sizes, dim, keepdim):
    dims = range(len(sizes)) if dim in (None, (), []) else [dim] if isinstance(dim, int) else dim
    dims = {d % len(sizes) for d in dims if sizes}
    return grad if keepdim else grad.reshape([1 if d in dims else n for d, n in enumerate(sizes)])


def sum_backward(grad, sizes, dim, keepdim):
    return restore_reduced_dims(grad, sizes, dim, keepdim).expand(sizes)


def scale_grad_by_count(grad, self, result, dim, keepdim):
    grad, result = (restore_reduced_dims(one, self.shape, dim, keepdim) for one in (grad, result))
    mask = self == result
    return grad * mask / sum_backward(sum_to(mask.to(grad.dtype), grad.shape), self.shape, None, True)


def clamp_backward(grad, self, min, max):
    grad = grad if min is None else grad * (self >= min)
    return grad if max is None else grad * (self <= max)


def permute_backwards(grad, dims):
    return grad.permute(sorted(range(len(dims)), key=lambda d: dims[d] % len(dims)))


def into_zeros(grad, sizes, view, *args):
    """Zeros, with the gradient where that view of them is (select_backward, slice_backward, as_strided_backward)."""
    zeros = aten.full(sizes, 0, grad.dtype, grad.device)
    getattr(aten, view)(zeros, *args).copy_(grad)
    return zeros


FUNCTIONS = globals()
