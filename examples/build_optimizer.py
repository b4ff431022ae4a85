"""An optimizer reads gradients and writes parameters in place, which their versions tell."""

# --8<-- [start:program]
import toytorch as torch

w = torch.tensor([4.0, -4.0], requires_grad=True)
optimizer = torch.optim.AdamW([w], lr=1.0)
for _ in range(3):
    loss = (w * w).sum()
    optimizer.zero_grad()
    loss.backward()
    before = w._version
    optimizer.step()
    writes = w._version - before
    print(f"loss {loss.item():5.2f}, then w {w.detach()}, writes {writes}")
print("state:", *optimizer.state_dict()["state"][0])
assert loss.item() < 32
# --8<-- [end:program]
