"""The allocator keeps what is freed, so a training loop takes memory from the system once."""

# --8<-- [start:program]
import toytorch as torch
from toytorch import nn
from toytorch.memory import allocator


def row(moment):
    counts = allocator.allocated, allocator.peak, allocator.reserved
    print(f"{moment:12}", *(f"{count:10,}" for count in counts))


# ---
torch.manual_seed(0)
x, target = torch.randn(512, 64), torch.randint(2, (512,))
model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
print("bytes after   allocated       peak   reserved")
for _ in range(2):
    loss = nn.functional.cross_entropy(model(x), target)
    row("forward")
    optimizer.zero_grad()
    loss.backward()
    row("backward")
    optimizer.step()
    row("step")
assert allocator.peak <= allocator.reserved
# --8<-- [end:program]
