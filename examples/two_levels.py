"""One rule, used above autograd, for autograd and below it, is enough to predict the nodes and handlers of torch."""

from contextlib import ExitStack

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


# --8<-- [start:behind]
def behind(stack, func):
    def call(*args):
        if not stack:
            return func(*args)
        handler = stack.pop()
        out = handler(call, *args)
        stack.append(handler)
        return out

    call.__name__ = func.__name__
    return call


# --8<-- [end:behind]


# --8<-- [start:torch]
def record(func, *args):
    """Autograd: notes the operator, then calls it."""
    tape.append(func.__name__)
    return func(*args)


def swap(func, *args):
    return tanh(*args) if func.__name__ == "relu" else func(*args)


def levels(func):
    return behind(functions, behind(autograd, behind(operators, func)))


x = torch.tensor([-1.0, 0.0, 1.0])
functions, autograd, operators, tape = [], [record], [], []
relu, tanh = levels(torch.relu), levels(torch.tanh)
for name, stack in ("function", functions), ("dispatch", operators):
    tape.clear()
    stack.append(swap)
    print(f"{name} level: {relu(x)}, node of {tape[0]}")
    stack.pop()
# --8<-- [end:torch]


def linear(x, weight, bias):
    """A composite: autograd and the dispatch level get its two operators."""
    return addmm(bias, x, t(weight))


t, addmm = (behind(autograd, behind(operators, func)) for func in (torch.t, torch.addmm))
linear = behind(functions, linear)
detach = behind(operators, torch.detach)


def save(func, *args):
    """As record, and like torch it calls detach where the node saves the result."""
    out = record(func, *args)
    if func.__name__ in ("relu", "tanh"):
        detach(out)
    return out


def handler(self, func, types, args=(), kwargs=None):
    """For modes of torch: notes the call. In a mode without a name, it does the opening's swap."""
    name = func.__name__.split(".")[0]
    theirs.append(f"{self.name} {name}")
    return torch.tanh(*args) if name == "relu" and not self.name else func(*args, **(kwargs or {}))


class Function(TorchFunctionMode):
    name, __torch_function__ = "", handler


class Dispatch(TorchDispatchMode):
    name, __torch_dispatch__ = "", handler


def nodes(y):
    """The operators that torch has made nodes for, sorted."""
    ask = [y.grad_fn]
    for node in ask:
        ask += [after for after, _ in node.next_functions if after is not None]
    return sorted(node.name().removesuffix("Backward0").lower() for node in ask if not hasattr(node, "variable"))


torch.manual_seed(0)
x, theirs, mine, autograd[0] = torch.randn(8, 3), [], [], save
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
w1, b1, w2, b2 = (p.detach() for p in model.parameters())
for stack, mode in (functions, Function()), (operators, Dispatch()):
    tape.clear()
    stack.append(swap)
    y = linear(relu(linear(x, w1, b1)), w2, b2)
    stack.pop()
    with mode:
        z = model(x)
    assert torch.equal(y, z) and sorted(tape) == nodes(z)

theirs.clear()
with ExitStack() as entered:
    for stack, mode in zip([functions, operators] * 2, [Function(), Dispatch(), Function(), Dispatch()], strict=True):
        mode.name = f"{type(mode).__name__} {len(stack)}"
        stack.append(lambda func, *args, at=mode.name: mine.append(f"{at} {func.__name__}") or func(*args))
        entered.enter_context(mode)
    z = model(x)
y = linear(relu(linear(x, w1, b1)), w2, b2)
assert mine == theirs and torch.equal(y, z)
