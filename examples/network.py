"""One step of training: forward builds a graph, backward walks it, and each number of it can be had by hand."""

import torch
from torch import nn

# --8<-- [start:network]
torch.manual_seed(0)
x = torch.linspace(-1, 1, 24).reshape(8, 3)
target = x.sum(1, keepdim=True).sin()
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
# --8<-- [end:network]


# --8<-- [start:forward]
def nodes(grad_fn):
    """All nodes of a graph, in the order in which forward made them."""
    found = {grad_fn}
    ask = [grad_fn]
    for node in ask:
        new = {following for following, _ in node.next_functions} - found - {None}
        found |= new
        ask += new
    return sorted(found, key=lambda node: node._sequence_nr())


prediction = net(x)
loss = nn.functional.mse_loss(prediction, target)
made = [node.name() for node in nodes(loss.grad_fn)]
leaves = made.count("torch::autograd::AccumulateGrad")
print("made by forward:", *made[:-leaves])
print("AccumulateGrad nodes:", leaves)
# --8<-- [end:forward]


# --8<-- [start:backward]
loss.backward()

with torch.no_grad():
    w1, b1, w2, b2 = net.parameters()
    a = x @ w1.t() + b1
    h = a.clamp(min=0)
    p = h @ w2.t() + b2
    grad_p = 2 * (p - target) / p.numel()
    grad_a = (grad_p @ w2) * (h > 0)
    by_hand = [grad_a.t() @ x, grad_a.sum(0), grad_p.t() @ h, grad_p.sum(0)]
for w, grad in zip(net.parameters(), by_hand):
    torch.testing.assert_close(w.grad, grad)
# --8<-- [end:backward]


# --8<-- [start:step]
expected = [w.detach() - 0.1 * w.grad for w in net.parameters()]
optimizer.step()
for w, value in zip(net.parameters(), expected):
    torch.testing.assert_close(w.detach(), value)

for _ in range(100):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), target).backward()
    optimizer.step()
after = nn.functional.mse_loss(net(x), target)
print(f"loss {loss.item():.4f} at first, {after.item():.4f} after 101 steps")
# --8<-- [end:step]

torch.testing.assert_close(prediction, p)
torch.testing.assert_close(loss, (p - target).square().mean())
assert leaves == len(list(net.parameters())) and after < loss
