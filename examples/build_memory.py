"""The allocator keeps what is freed, so a training loop takes memory from the system once."""

# --8<-- [start:program]
import toytorch as torch
from toytorch import nn
from toytorch.memory import allocator

torch.manual_seed(0)
x, target = torch.randn(512, 64), torch.randint(2, (512,))
model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for _ in range(3):
    loss = nn.functional.cross_entropy(model(x), target)
    print(f"after forward {allocator.allocated:9,}", end="  ")
    optimizer.zero_grad()
    loss.backward()
    print(f"backward {allocator.allocated:9,}", end="  ")
    optimizer.step()
    print(f"step {allocator.allocated:9,}", end="  ")
    print(f"reserved {allocator.reserved:9,}")
assert allocator.peak <= allocator.reserved
# --8<-- [end:program]
