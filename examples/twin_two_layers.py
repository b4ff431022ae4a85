"""Two layers with a relu between learn twice: backward is forward read from the end."""

import numpy as np
import torch

STEPS, RATE = 200, 0.3
torch.manual_seed(0)
x = torch.rand(16, 4, dtype=torch.float64) * 2 - 1
t = x[:, :2].abs()
shapes = ((4, 8), (8,), (8, 2), (2,))
start = [torch.rand(shape, dtype=torch.float64) - 0.5 for shape in shapes]


# --8<-- [start:twins]
def by_autograd(w1, b1, w2, b2):
    h = torch.relu(x @ w1 + b1)
    loss = ((h @ w2 + b2 - t) ** 2).mean()
    return loss, torch.autograd.grad(loss, (w1, b1, w2, b2))


def by_hand(w1, b1, w2, b2):
    a = x.numpy() @ w1 + b1  # (16, 8)
    h = np.maximum(a, 0)  # (16, 8)
    error = h @ w2 + b2 - t.numpy()  # (16, 2)
    loss = (error**2).mean()

    d_y = 2 * error / error.size  # (16, 2), as error
    d_w2, d_b2 = h.T @ d_y, d_y.sum(axis=0)
    d_h = d_y @ w2.T  # (16, 8), as h
    d_a = d_h * (a > 0)  # (16, 8), as a
    d_w1, d_b1 = x.numpy().T @ d_a, d_a.sum(axis=0)
    return loss, (d_w1, d_b1, d_w2, d_b2)


# --8<-- [end:twins]
def same(torchs, ours):
    np.testing.assert_allclose(ours, torchs.detach().numpy(), rtol=1e-8, atol=1e-11)


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
assert our_loss < first / 4
print(f"{STEPS} steps: losses, four gradients and four parameters agree")
