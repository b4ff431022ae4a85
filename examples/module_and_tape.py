"""A module that sorts its attributes and a tape that records forward give the gradients that torch gives."""

from collections import OrderedDict

import torch
from torch import nn


# --8<-- [start:tape]
class Variable:
    def __init__(self, data):
        self.data, self.grad = data, None


tape = []


def record(name, data, *rules):
    tape.append((name, out := Variable(data), rules))
    return out


def t(w):
    return record("T", w.data.t(), (w, lambda g: g.t()))


def addmm(b, x, w):
    to_x, to_w = (lambda g: g @ w.data.t()), (lambda g: x.data.t() @ g)
    data = b.data + x.data @ w.data
    return record("Addmm", data, (b, lambda g: g.sum(0)), (x, to_x), (w, to_w))


def relu(x):
    result = x.data.clamp(min=0)
    return record("Relu", result, (x, lambda g: g * (result > 0)))


def backward(out):
    out.grad = torch.ones_like(out.data)
    for _, result, rules in reversed(tape):
        used = rules if result.grad is not None else ()
        for variable, rule in used:
            old = 0 if variable.grad is None else variable.grad
            variable.grad = old + rule(result.grad)


# --8<-- [end:tape]
# --8<-- [start:module]
class Parameter(Variable):
    pass


class Module:
    def __init__(self):
        self._parameters, self._modules = {}, {}

    def __setattr__(self, name, value):
        home = vars(self)
        if isinstance(value, Parameter):
            home = self._parameters
        elif isinstance(value, Module):
            home = self._modules
        vars(self).pop(name, None)  # an old attribute would hide the new one
        home[name] = value

    def __getattr__(self, name):
        registered = self._parameters | self._modules
        if name not in registered:
            raise AttributeError(name)
        return registered[name]

    def __call__(self, *args):
        return self.forward(*args)

    def named_parameters(self, prefix=""):
        for name, parameter in self._parameters.items():
            yield prefix + name, parameter
        for name, module in self._modules.items():
            yield from module.named_parameters(f"{prefix}{name}.")


# --8<-- [end:module]
# --8<-- [start:compare]
class Linear(Module):
    def __init__(self, real):
        super().__init__()
        self.weight, self.bias = (Parameter(p.detach()) for p in real.parameters())

    def forward(self, x):
        return addmm(self.bias, x, t(self.weight))


class Network(Module):
    def __init__(self, real):
        super().__init__()
        self.hidden, self.out = Linear(real.hidden), Linear(real.out)

    def forward(self, x):
        return self.out(relu(self.hidden(x)))


torch.manual_seed(0)
real = nn.Sequential(OrderedDict(hidden=nn.Linear(3, 4), relu=nn.ReLU(), out=nn.Linear(4, 1)))
net, x = Network(real), torch.rand(5, 3)
y, theirs = net(Variable(x)), real(x)
backward(y)
theirs.sum().backward()
mine = dict(net.named_parameters())
assert list(mine) == list(dict(real.named_parameters()))
torch.testing.assert_close(y.data, theirs.detach())
for name, p in real.named_parameters():
    torch.testing.assert_close(mine[name].grad, p.grad)
order = [theirs.grad_fn]
for node in order:
    order += [n for n, _ in node.next_functions if n and n not in order]
order.sort(key=lambda node: node._sequence_nr())
assert [n.name() for n in order if n.next_functions] == [f"{name}Backward0" for name, _, _ in tape]
print("here: ", *mine)
print("torch:", *dict(real.named_parameters()))
# --8<-- [end:compare]
