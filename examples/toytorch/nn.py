"""Layers: modules that hold parameters and other modules (torch/nn/modules/module.py, linear.py, container.py)."""

import functools
import math

from . import functional
from ._tensor import Tensor
from .factories import empty
from .hooks import RemovableHandle
from .storage import TORCH_CHECK


class Parameter(Tensor):
    def __init__(self, data, requires_grad=True):
        super().__init__(data.storage, data.dtype, data.shape, data.strides, data.offset)
        self.requires_grad = requires_grad


class Module:
    training = True

    def __init__(self):
        vars(self).update(_parameters={}, _modules={}, _forward_pre_hooks={}, _forward_hooks={})

    def __setattr__(self, name, value):
        for home in (vars(self), self._parameters, self._modules):
            home.pop(name, None)
        kinds = {"_parameters": Parameter, "_modules": Module}
        home = next((vars(self)[home] for home, kind in kinds.items() if isinstance(value, kind)), vars(self))
        home[name] = value

    def __getattr__(self, name):
        for home in ("_parameters", "_modules"):
            if name in vars(self).get(home, ()):
                return vars(self)[home][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _call_impl(self, *args, **kwargs):
        for hook in self._forward_pre_hooks.values():
            changed = hook(self, args)
            args = args if changed is None else changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*args, **kwargs)
        for hook in self._forward_hooks.values():
            changed = hook(self, args, result)
            result = result if changed is None else changed
        return result

    __call__ = _call_impl

    def register_forward_pre_hook(self, hook):
        return RemovableHandle(self._forward_pre_hooks, hook)

    def register_forward_hook(self, hook):
        return RemovableHandle(self._forward_hooks, hook)

    def modules(self):
        yield self
        for module in self._modules.values():
            yield from module.modules()

    def named_parameters(self, prefix=""):
        yield from ((prefix + name, p) for name, p in self._parameters.items())
        for name, module in self._modules.items():
            yield from module.named_parameters(f"{prefix}{name}.")

    def parameters(self):
        return (parameter for _, parameter in self.named_parameters())

    def state_dict(self):
        return {name: parameter.detach() for name, parameter in self.named_parameters()}

    def load_state_dict(self, state_dict):
        mine = dict(self.named_parameters())
        TORCH_CHECK(
            mine.keys() == state_dict.keys(), f"Missing or unexpected key(s): {mine.keys() ^ state_dict.keys()}"
        )
        for name, parameter in mine.items():
            parameter.detach().copy_(state_dict[name])

    def train(self, mode=True):
        for module in self.modules():
            module.training = mode
        return self

    def eval(self):
        return self.train(False)


class Linear(Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = 1 / math.sqrt(in_features)  # of kaiming_uniform_(weight, a=sqrt(5)), and of the bias
        self.weight = Parameter(empty((out_features, in_features)).uniform_(-bound, bound))
        self.bias = Parameter(empty((out_features,)).uniform_(-bound, bound)) if bias else None

    def forward(self, input):
        return functional.linear(input, self.weight, self.bias)


class ReLU(Module):
    def forward(self, input):
        return input.relu()


class Sequential(Module):
    def __init__(self, *modules):
        super().__init__()
        for i, module in enumerate(modules):
            setattr(self, str(i), module)

    def __getitem__(self, i):
        return list(self._modules.values())[i]

    def forward(self, input):
        return functools.reduce(lambda x, module: module(x), self._modules.values(), input)
