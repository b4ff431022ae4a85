"""Two numbers learn a line twice, by autograd and by hand, and never part."""

import numpy as np
import torch

STEPS, RATE = 60, 0.1
torch.manual_seed(0)
x = torch.rand(20, dtype=torch.float64) * 4 - 2
t = 2 * x + 0.3 + 0.1 * torch.rand(20, dtype=torch.float64)
start = torch.rand(2, dtype=torch.float64)


# --8<-- [start:twins]
def by_autograd(a, b):
    loss = ((a * x + b - t) ** 2).mean()
    return loss, torch.autograd.grad(loss, (a, b))


def by_hand(a, b):
    error = a * x.numpy() + b - t.numpy()
    loss = (error**2).mean()
    d_error = 2 * error / error.size
    return loss, ((d_error * x.numpy()).sum(), d_error.sum())


# --8<-- [end:twins]
# --8<-- [start:run]
def same(torchs, ours):
    torchs = torchs.detach().numpy()
    np.testing.assert_allclose(ours, torchs, rtol=1e-10, atol=1e-12)


auto = [p.clone().requires_grad_() for p in start]
hand = list(start.numpy().copy())
for step in range(STEPS):
    loss, grads = by_autograd(*auto)
    our_loss, our_grads = by_hand(*hand)
    same(loss, our_loss)
    for grad, ours in zip(grads, our_grads, strict=True):
        same(grad, ours)
    if step % 15 == 0:
        print(f"step {step:2}: loss {loss.item():.4f} and {our_loss:.4f}")
    with torch.no_grad():
        for p, grad in zip(auto, grads, strict=True):
            p -= RATE * grad
    hand = [p - RATE * grad for p, grad in zip(hand, our_grads)]
for p, ours in zip(auto, hand, strict=True):
    same(p, ours)
assert abs(hand[0] - 2) < 0.1 and our_loss < 0.01
print(f"{STEPS} steps: losses, gradients and both numbers agree")
# --8<-- [end:run]
