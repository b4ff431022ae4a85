"""All that reaches the dispatcher is a program: its log, run again, gives the same loss and gradients."""

import torch
from torch import nn
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map, tree_map_only


# --8<-- [start:logger]
class Log(TorchDispatchMode):
    """Keeps each operator call as (operator, arguments, results), every tensor replaced by its number."""

    def __init__(self, inputs):
        super().__init__()
        self.lines, self.seen = [], list(inputs)  # the tensors themselves, so that no number is used twice

    def number(self, x):
        for number, known in enumerate(self.seen):
            if known is x:
                return f"${number}"
        self.seen.append(x)
        return f"${len(self.seen) - 1}"

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = op(*args, **kwargs)  # the mode is off in here: it does not see itself
        self.lines.append((op, *tree_map_only(torch.Tensor, self.number, (args, kwargs, out))))  # here: one tensor out
        return out


class Functions(TorchFunctionMode):
    """Keeps the names of the functions we call, above autograd."""

    names = ()

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.names += ((resolve_name(function) or function.__name__).removeprefix("torch."),)
        return function(*args, **(kwargs or {}))


# --8<-- [end:logger]
# --8<-- [start:log]
def step(net, x, target):
    loss = nn.functional.mse_loss(net(x), target)
    return loss, *torch.autograd.grad(loss, list(net.parameters()))


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
inputs = [torch.rand(8, 3), torch.rand(8, 1), *net.parameters()]
with Functions() as functions, Log(inputs) as log:
    results = step(net, *inputs[:2])

print("we called:", ", ".join(functions.names))
for op, args, kwargs, out in log.lines:
    words = [str(value) for value in args] + [f"{name}={value}" for name, value in kwargs.items()]
    print(out, "=", f"{op}({', '.join(words)})")
names = [op.overloadpacket.__name__ for op, *_ in log.lines]
assert names.count("addmm") == functions.names.count("nn.functional.linear") == 2 and "linear" not in names
# --8<-- [end:log]


# --8<-- [start:replay]
def replay(lines, inputs):
    values = {f"${number}": x for number, x in enumerate(inputs)}

    def value(leaf):
        return values.get(leaf, leaf) if isinstance(leaf, str) else leaf

    for op, args, kwargs, out in lines:
        args, kwargs = tree_map(value, (args, kwargs))
        values[out] = op(*args, **kwargs)
    return values


with torch.no_grad():
    for x in inputs:
        x.mul_(0.5)
ran = replay(log.lines, [x.detach() for x in inputs])
theirs = step(net, *inputs[:2])
assert all(torch.equal(ran[log.number(old)], new.detach()) for old, new in zip(results, theirs))
assert not ran[log.number(results[0])].requires_grad
print(f"{len(log.lines)} lines ran again on other numbers: the same loss and {len(theirs) - 1} gradients as torch's")
# --8<-- [end:replay]
