"""Layers: modules that hold parameters and other modules (torch/nn/modules/module.py, linear.py, container.py)."""

import functools
import math
from types import SimpleNamespace

from ._tensor import NAMES, Tensor
from .dispatch import aten
from .factories import empty

cross_entropy = lambda input, target: aten.nll_loss(aten._log_softmax(input, 1), target)  # noqa: E731
functional = SimpleNamespace(linear=aten.linear, relu=aten.relu, nll_loss=aten.nll_loss, cross_entropy=cross_entropy)


class Parameter(Tensor):
    def __init__(self, data, requires_grad=True):
        vars(self).update(vars(data.detach()))
        self.requires_grad_(requires_grad)


class Module:
    def __init__(self):
        vars(self).update(_parameters={}, _modules={}, _forward_hooks={})

    # --8<-- [start:Module]
    def __setattr__(self, name, value):
        if name in self._parameters and type(value) is Tensor:
            said = f"cannot assign 'torch.{NAMES[value.dtype]}Tensor' as parameter '{name}'"
            raise TypeError(f"{said} (torch.nn.Parameter or None expected)")
        for home in (vars(self), self._parameters, self._modules):
            home.pop(name, None)
        is_parameter, is_module = isinstance(value, Parameter), isinstance(value, Module)
        home = self._parameters if is_parameter else self._modules if is_module else vars(self)
        home[name] = value

    def __getattr__(self, name):
        found = vars(self).get("_parameters", {}) | vars(self).get("_modules", {})
        if name not in found:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return found[name]
        # --8<-- [end:Module]

    def __call__(self, *args):
        result = self.forward(*args)
        for hook in self._forward_hooks.values():
            changed = hook(self, args, result)
            result = result if changed is None else changed
        return result

    def register_forward_hook(self, hook):
        """Returns a handle, whose remove takes the hook away."""
        key = object()
        self._forward_hooks[key] = hook
        return SimpleNamespace(remove=lambda: self._forward_hooks.pop(key, None))

    def modules(self):
        yield self
        for module in self._modules.values():
            yield from module.modules()

    def parameters(self):
        """A parameter that is tied to another is the same, and comes once."""
        return iter(dict.fromkeys(p for module in self.modules() for p in module._parameters.values()))


class Linear(Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        bound = 1 / math.sqrt(in_features)  # of kaiming_uniform_(weight, a=sqrt(5)), and of the bias
        self.weight = Parameter(empty((out_features, in_features)).uniform_(-bound, bound))
        self.bias = Parameter(empty((out_features,)).uniform_(-bound, bound))

    def forward(self, input):
        return aten.linear(input, self.weight, self.bias)


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
        return functools.reduce(lambda x, module: module(x), self._modules.values(), input)
