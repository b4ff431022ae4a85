"""A gradient is a sum over paths and over backwards: nothing but us ever sets it back to zero."""

import torch
from torch import nn


# --8<-- [start:paths]
def paths(node, leaf):
    """The product of the local derivatives along each path from `node` to `leaf`."""
    if getattr(node, "variable", None) is leaf:
        return [1.0]
    local = node(torch.ones(()))
    local = local if isinstance(local, tuple) else (local,)
    following = [(n, d) for (n, _), d in zip(node.next_functions, local) if n is not None]
    return [d.item() * rest for n, d in following for rest in paths(n, leaf)]


w = torch.tensor(3.0, requires_grad=True)
a = w * w
y = a * w + a.sin() + 2 * w
found = paths(y.grad_fn, w)
print("paths:", [round(d, 4) for d in found])
y.backward(retain_graph=True)
print("their sum:", round(sum(found), 4))
assert torch.isclose(w.grad, torch.tensor(sum(found)))
# --8<-- [end:paths]

# --8<-- [start:again]
once, home = w.grad.clone(), w.grad.data_ptr()
y.backward()
assert torch.equal(w.grad, 2 * once) and w.grad.data_ptr() == home
try:
    y.backward()
except RuntimeError as error:
    print("third time:", str(error).split("(")[0].strip())
else:
    raise AssertionError("the graph was still there")
assert torch.equal(w.grad, 2 * once)
# --8<-- [end:again]


# --8<-- [start:batches]
def gradient(net, batches, scale):
    net.zero_grad()
    kept = []
    for x, target in batches:
        loss = nn.functional.mse_loss(net(x), target) * scale(len(x))
        loss.backward()
        kept.append(net[0].weight.grad)
    assert all(grad is kept[0] for grad in kept)
    return [w.grad.clone() for w in net.parameters()]


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()
x, target = torch.rand(10, 3).double(), torch.rand(10, 1).double()
whole = gradient(net, [(x, target)], lambda n: 1)
parts = list(zip(x.split(4), target.split(4)))
print("parts of", [len(part) for part, _ in parts])
for name, scale in {"summed": lambda n: 1, "averaged": lambda n: 1 / 3, "weighted": lambda n: n / 10}.items():
    ours = gradient(net, parts, scale)
    same = all(torch.allclose(a, b) for a, b in zip(ours, whole))
    print(f"{name:9} equal to the whole batch: {same}")
    assert same == (name == "weighted")
# --8<-- [end:batches]

# --8<-- [start:trap]
loss = nn.functional.mse_loss(net(x), target)
asked = torch.autograd.grad(loss, list(net.parameters()))
assert all(torch.allclose(a, b) for a, b in zip(asked, whole))
assert all(torch.equal(w.grad, b) for w, b in zip(net.parameters(), ours)), "grad() adds to nothing"
net.zero_grad()
assert all(w.grad is None for w in net.parameters())
# --8<-- [end:trap]
