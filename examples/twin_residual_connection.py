"""A residual block learns twice: at the fork the two gradients are added."""

import numpy as np
import torch
from torch.nn.functional import layer_norm

STEPS, RATE, EPS = 200, 0.2, 1e-5
torch.manual_seed(0)
x = torch.rand(16, 6, dtype=torch.float64) * 2 - 1
t = x + torch.tanh(x.flip(1))
start = [torch.rand(shape, dtype=torch.float64) - 0.5 for shape in ((6, 6), (12, 6), (12,), (6, 12))]


# --8<-- [start:twins]
def by_autograd(w0, w1, b1, w2):
    s = x @ w0.T
    n = layer_norm(s, (6,), eps=EPS)
    y = s + torch.relu(n @ w1.T + b1) @ w2.T
    loss = ((y - t) ** 2).mean()
    return loss, torch.autograd.grad(loss, (w0, w1, b1, w2))


def by_hand(w0, w1, b1, w2):
    s = x.numpy() @ w0.T
    rstd = 1 / np.sqrt(s.var(axis=1, keepdims=True) + EPS)
    n = (s - s.mean(axis=1, keepdims=True)) * rstd
    z = n @ w1.T + b1
    h = np.maximum(z, 0)
    error = s + h @ w2.T - t.numpy()

    d_y = 2 * error / error.size
    d_w2 = d_y.T @ h
    d_z = (d_y @ w2) * (z > 0)
    d_w1, d_b1 = d_z.T @ n, d_z.sum(axis=0)
    d_n = d_z @ w1
    along = (d_n * n).mean(axis=1, keepdims=True)
    d_s = rstd * (d_n - d_n.mean(axis=1, keepdims=True) - n * along)
    d_s += d_y  # the other way out of the fork: s + ...
    return (error**2).mean(), (d_s.T @ x.numpy(), d_w1, d_b1, d_w2)


# --8<-- [end:twins]
def same(torchs, ours):
    np.testing.assert_allclose(ours, torchs.detach().numpy(), rtol=1e-7, atol=1e-10)


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
