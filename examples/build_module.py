"""A module finds its parameters, and a hook sees what a layer returns."""

# --8<-- [start:program]
import toytorch as torch
from toytorch import nn

torch.manual_seed(0)
x, target, seen = torch.randn(8, 3), torch.randint(2, (8,)), []
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
print("parameters", *(tuple(p.shape) for p in model.parameters()))
model[1].register_forward_hook(lambda _, args, out: seen.append(out))
loss = nn.functional.cross_entropy(model(x), target)
print("ReLU returned", tuple(seen[0].shape))
print("loss", loss)
assert seen[0].detach().numpy().min() >= 0
# --8<-- [end:program]
