"""A line of Python is another number of calls at each level, so an operator counter beats a guess."""

from collections import Counter

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


# --8<-- [start:counter]
class Functions(TorchFunctionMode):
    """Counts what Python asks of torch, above autograd."""

    def __init__(self):
        super().__init__()
        self.calls = Counter()

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.calls[function.__name__] += 1
        return function(*args, **(kwargs or {}))


class Operators(TorchDispatchMode):
    """Counts what arrives below autograd: views, which only make another tensor over the same memory, apart."""

    def __init__(self):
        super().__init__()
        self.calls, self.views = Counter(), Counter()

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        (self.views if op.is_view else self.calls)[op.overloadpacket.__name__] += 1
        return op(*args, **(kwargs or {}))


def count(work):
    with Functions() as functions, Operators() as operators:
        result = work()
    return result, functions, operators


def row(name, functions, operators):
    counts = functions.calls.total(), operators.calls.total(), operators.views.total()
    print(f"{name:16}" + "".join(f"{n:10}" for n in counts))


# --8<-- [end:counter]
# --8<-- [start:step]
def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2))


net, x = network(), torch.linspace(-1, 1, 24).reshape(4, 6)
print(f"{'':16} functions operators     views")
loss, *forward = count(lambda: net(x).square().mean())
row("forward", *forward)
_, *backward = count(loss.backward)
row("backward", *backward)
print("kernels of forward: ", dict(forward[1].calls))
print("kernels of backward:", dict(backward[1].calls))
assert forward[0].calls["linear"] == forward[1].calls["addmm"] == 2
assert "linear" not in forward[1].calls and forward[1].views["t"] == 2, "linear is t and addmm"
assert backward[0].calls.total() == 1, "one call from Python, and the engine makes the others"
assert backward[1].calls["mm"] == 3, "two for each layer, less the one for x, which wants no gradient"
# --8<-- [end:step]

# --8<-- [start:adam]
print("the second step of Adam:")
ended, totals = {}, {}
for name, options in {"loop": {"foreach": False}, "foreach": {"foreach": True}, "fused": {"fused": True}}.items():
    net = network()
    optimizer = torch.optim.Adam(net.parameters(), **options)
    net(x).square().mean().backward()
    optimizer.step()
    _, functions, operators = count(optimizer.step)
    row("  " + name, functions, operators)
    ended[name] = torch.cat([w.detach().flatten() for w in net.parameters()])
    totals[name] = operators.calls.total()
    assert torch.allclose(ended[name], ended["loop"])
assert totals["fused"] < totals["foreach"] < totals["loop"]
# --8<-- [end:adam]
