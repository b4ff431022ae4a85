"""One matrix learns another twice: X.T @ dY is the gradient that autograd finds."""

import numpy as np
import torch

STEPS, RATE = 200, 0.5
torch.manual_seed(0)
x = torch.rand(12, 5, dtype=torch.float64) - 0.5
t = x @ torch.rand(5, 3, dtype=torch.float64) + 0.5
start = [torch.rand(shape, dtype=torch.float64) for shape in ((5, 3), (3,))]


# --8<-- [start:twins]
def by_autograd(a, b):
    loss = ((x @ a + b - t) ** 2).mean()
    return loss, torch.autograd.grad(loss, (a, b))


def by_hand(a, b):
    error = x.numpy() @ a + b - t.numpy()  # (12, 3)
    d_y = 2 * error / error.size  # 12 * 3 numbers in the mean, not 12
    return (error**2).mean(), (x.numpy().T @ d_y, d_y.sum(axis=0))


# --8<-- [end:twins]
def same(torchs, ours):
    np.testing.assert_allclose(ours, torchs.detach().numpy(), rtol=1e-10, atol=1e-12)


auto = [p.clone().requires_grad_() for p in start]
hand = [p.numpy().copy() for p in start]
first = None
for step in range(STEPS):
    loss, grads = by_autograd(*auto)
    our_loss, our_grads = by_hand(*hand)
    first = first or our_loss
    same(loss, our_loss)
    for grad, ours in zip(grads, our_grads, strict=True):
        assert grad.shape == ours.shape
        same(grad, ours)
    if step % 50 == 0:
        print(f"step {step:3}: loss {loss.item():.4f} and {our_loss:.4f}")
    with torch.no_grad():
        for p, grad in zip(auto, grads, strict=True):
            p -= RATE * grad
    for p, grad in zip(hand, our_grads, strict=True):
        p -= RATE * grad
for p, ours in zip(auto, hand, strict=True):
    same(p, ours)
assert our_loss < first / 20
print(f"{STEPS} steps: losses, gradients, matrix and bias agree")
