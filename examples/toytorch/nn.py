"""Layers: modules that hold parameters and other modules (torch/nn/modules/module.py, linear.py, container.py)."""

import math
from types import SimpleNamespace

from ._tensor import NAMES, TORCH_CHECK, Tensor, int64
from .dispatch import aten, library
from .factories import tensor, uniform


@library("CompositeImplicitAutograd")
def linear(input, weight, bias=None):
    product = input.mm(weight.t())
    return product if bias is None else product + bias


@library("CompositeImplicitAutograd")
def nll_loss(self, target):  # the mean of what the rows have at their targets, negative
    TORCH_CHECK(self.dim() == 2 and target.dtype == int64, "toytorch picks classes from rows only", NotImplementedError)
    (rows, classes), (n,) = self.shape, target.shape
    TORCH_CHECK(rows == n, f"Expected input batch_size ({rows}) to match target batch_size ({n}).", ValueError)
    for wanted in target.array():
        TORCH_CHECK(0 <= wanted < classes, f"Target {wanted} is out of bounds.", IndexError)
    is_target = target.reshape((n, 1)) == tensor(range(classes))
    picked = aten.threshold_backward(self, is_target, 0)  # used as `where`: self where is_target > 0, else 0
    return picked.sum() / -n


def cross_entropy(input, target):
    return nll_loss(aten._log_softmax(input, 1), target)


functional = SimpleNamespace(linear=linear, relu=aten.relu, nll_loss=nll_loss, cross_entropy=cross_entropy)


class Parameter(Tensor):
    def __init__(self, data, requires_grad=True):
        vars(self).update(vars(data.detach()))  # takes over storage, sizes and version counter
        self.requires_grad_(requires_grad)


class Module:
    def __init__(self):
        vars(self).update(_parameters={}, _modules={}, _forward_hooks={})

    def __setattr__(self, name, value):
        if name in self._parameters and type(value) is Tensor:
            said = f"cannot assign 'torch.{NAMES[value.dtype]}Tensor' as parameter '{name}'"
            raise TypeError(f"{said} (torch.nn.Parameter or None expected)")
        homes = vars(self), self._parameters, self._modules
        home = homes[1 if isinstance(value, Parameter) else 2 if isinstance(value, Module) else 0]
        for other in [one for one in homes if one is not home]:  # in its own, a name keeps its place
            other.pop(name, None)
        home[name] = value

    def __getattr__(self, name):  # Python calls this for a name that is not in vars(self)
        for home in ("_parameters", "_modules"):
            if name in vars(self).get(home, ()):
                return vars(self)[home][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __call__(self, *args):
        result = self.forward(*args)
        for hook in [*self._forward_hooks.values()]:  # a hook may take itself away
            changed = hook(self, args, result)
            result = result if changed is None else changed
        return result

    def register_forward_hook(self, hook):  # returns a handle, whose remove takes the hook away
        key = object()
        self._forward_hooks[key] = hook
        return SimpleNamespace(remove=lambda: self._forward_hooks.pop(key, None))

    def modules(self):
        yield self
        for module in self._modules.values():
            yield from module.modules()

    def parameters(self):  # a parameter that is tied to another is the same, and comes once
        return iter(dict.fromkeys(p for module in self.modules() for p in module._parameters.values()))


class Linear(Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        bound = 1 / math.sqrt(in_features)  # of kaiming_uniform_(weight, a=sqrt(5)), and of the bias
        self.weight = Parameter(tensor(uniform((out_features, in_features), -bound, bound)))
        self.bias = Parameter(tensor(uniform((out_features,), -bound, bound)))

    def forward(self, input):
        return linear(input, self.weight, self.bias)


class ReLU(Module):
    def forward(self, input):
        return aten.relu(input)


class Sequential(Module):
    def __init__(self, *modules):
        super().__init__()
        self._modules.update({str(i): module for i, module in enumerate(modules)})

    def __getitem__(self, i):
        return self._modules[str(i)]

    def forward(self, input):
        for module in self._modules.values():
            input = module(input)
        return input
