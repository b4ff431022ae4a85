"""The ten lines run on toytorch and lose, step by step, what they lose on torch."""

import toytorch as torch
from toytorch import nn

losses = []
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
    losses.append(loss.item())

import torch  # noqa: E402
from torch import nn  # noqa: E402

theirs = []
torch.manual_seed(0)
x, target = torch.randn(8, 3), torch.randint(2, (8,))
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for _ in range(100):
    loss = nn.functional.cross_entropy(model(x), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    theirs.append(loss.item())

apart = max(abs(mine - other) for mine, other in zip(losses, theirs))
assert apart < 1e-5
for step in (0, 9, 99):
    print(f"step {step + 1:3}  toytorch {losses[step]:.4f}  torch {theirs[step]:.4f}")
print("100 losses, each as torch's to 1e-5")
print("compiled:", len(compiled.cache_entries), " recompiled:", len(compiled.recompiles))
