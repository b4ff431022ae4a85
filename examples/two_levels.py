"""A stack of modes above autograd and one below it are enough to see each name that torch's own modes see."""

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

# --8<-- [start:level]
functions, operators, seen, tape = [], [], [], []


def level(stack, func):
    """func, or in its place the last mode of the stack."""

    def call(*args):
        if not stack:
            return func(*args)
        mode = stack.pop()
        out = mode(call, func.__name__, *args)
        stack.append(mode)
        return out

    return call


def differentiable(func, saves_result=False):
    """An operator with autograd above its level."""

    def call(*args):
        tape.append(func.__name__)
        out = level(operators, func)(*args)
        if saves_result:
            detach(out)
        return out

    return call


# --8<-- [end:level]


# --8<-- [start:torch]
detach = level(operators, torch.detach)
t, addmm = differentiable(torch.t), differentiable(torch.addmm)
relu_operator = differentiable(torch.relu, saves_result=True)


def linear(x, weight, bias):
    return addmm(bias, x, t(weight))


def relu(x):
    return relu_operator(x)


linear, relu = level(functions, linear), level(functions, relu)
# --8<-- [end:torch]


def named(name):
    """A mode of the toy: notes the call and makes it."""

    def mode(call, func, *args):
        seen.append(f"{name} {func}")
        return call(*args)

    return mode


def handler(self, func, types, args=(), kwargs=None):
    """The same as a handler of torch."""
    theirs.append(f"{self.name} {func.__name__.split('.')[0]}")
    return func(*args, **(kwargs or {}))


class Function(TorchFunctionMode):
    name, __torch_function__ = "function", handler


class Dispatch(TorchDispatchMode):
    name, __torch_dispatch__ = "dispatch", handler


def inner(mode):
    """The mode that is entered last."""
    mode.name = f"inner {mode.name}"
    return mode


torch.manual_seed(0)
x, theirs = torch.randn(8, 3), []
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
with Function(), inner(Function()), Dispatch(), inner(Dispatch()):
    y = model(x)

w1, b1, w2, b2 = (p.detach() for p in model.parameters())
functions += [named("function"), named("inner function")]
operators += [named("dispatch"), named("inner dispatch")]
mine = linear(relu(linear(x, w1, b1)), w2, b2)

made, ask = [], [y.grad_fn]
for node in ask:
    made += [node.name().removesuffix("Backward0").lower()] if not hasattr(node, "variable") else []
    ask += [after for after, _ in node.next_functions if after is not None]
print(*seen[:6], sep="\n")
print(len(seen), "calls of handlers; nodes:", *tape)
assert seen == theirs
assert sorted(tape) == sorted(made)
assert torch.equal(mine, y) and len(functions) == len(operators) == 2
