"""Ten lines train a network: what they compute, and each gradient on the way, can be had by hand."""

import torch
from torch import nn

# --8<-- [start:ten]
torch.manual_seed(0)
x, target = torch.randn(8, 3), torch.randint(2, (8,))
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
compiled = torch.compile(model)
for step in range(100):
    loss = nn.functional.cross_entropy(compiled(x), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
# --8<-- [end:ten]

untrained = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
before = nn.functional.cross_entropy(untrained(x), target)
print(f"loss {loss.item():.2f} after 100 steps, {before.item():.2f} without")


def nodes(grad_fn):
    """All nodes of a graph, in the order in which forward made them."""
    found = {grad_fn}
    ask = [grad_fn]
    for node in ask:
        new = {following for following, _ in node.next_functions} - found - {None}
        found |= new
        ask += new
    return sorted(found, key=lambda node: node._sequence_nr())


# --8<-- [start:forward]
prediction = model(x)
loss = nn.functional.cross_entropy(prediction, target)
names = [node.name() for node in nodes(loss.grad_fn)]
leaves = names.count("torch::autograd::AccumulateGrad")
print("made by forward:", *names[:-leaves])
print("AccumulateGrad nodes:", leaves)
# --8<-- [end:forward]


# --8<-- [start:backward]
optimizer.zero_grad()
loss.backward()

with torch.no_grad():
    w1, b1, w2, b2 = model.parameters()
    a = x @ w1.t() + b1
    h = a.clamp(min=0)
    p = h @ w2.t() + b2
    grad_p = (p.softmax(1) - nn.functional.one_hot(target, 2)) / len(target)
    grad_a = (grad_p @ w2) * (h > 0)
    by_hand = [grad_a.t() @ x, grad_a.sum(0), grad_p.t() @ h, grad_p.sum(0)]
for w, grad in zip(model.parameters(), by_hand):
    torch.testing.assert_close(w.grad, grad)
# --8<-- [end:backward]

torch.testing.assert_close(prediction, p)
torch.testing.assert_close(prediction, compiled(x))
torch.testing.assert_close(loss, -p.log_softmax(1)[range(8), target].mean())
assert leaves == len(list(model.parameters())) and loss < before
