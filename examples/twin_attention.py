"""A causal attention layer of two heads learns twice, all four matrices alike."""

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention

STEPS, RATE, HEADS, WIDTH = 200, 1.0, 2, 4
torch.manual_seed(0)
x = torch.rand(3, 5, 8, dtype=torch.float64) * 2 - 1  # batch, time, features
t = x.cumsum(dim=1) / 3
start = [torch.rand(8, 8, dtype=torch.float64) - 0.5 for _ in range(4)]


# --8<-- [start:twins]
def split(y):  # (3, 5, 8) -> (3, 2, 5, 4): heads beside the batch
    return y.reshape(3, 5, HEADS, WIDTH).swapaxes(1, 2)


def merge(y):  # the way back; also the gradient of split
    return y.swapaxes(1, 2).reshape(3, 5, HEADS * WIDTH)


def by_autograd(wq, wk, wv, wo):
    q, k, v = (split(x @ w) for w in (wq, wk, wv))
    y = scaled_dot_product_attention(q, k, v, is_causal=True)
    loss = ((merge(y) @ wo - t) ** 2).mean()
    return loss, torch.autograd.grad(loss, (wq, wk, wv, wo))


def by_hand(wq, wk, wv, wo):
    q, k, v = (split(x.numpy() @ w) for w in (wq, wk, wv))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(WIDTH)  # (3, 2, 5, 5)
    scores = np.where(np.tri(5, dtype=bool), scores, -np.inf)
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    m = merge(p @ v)
    error = m @ wo - t.numpy()

    d_out = 2 * error / error.size
    d_wo = np.einsum("bti,bto->io", m, d_out)
    d_y = split(d_out @ wo.T)
    d_v = p.swapaxes(-1, -2) @ d_y
    d_p = d_y @ v.swapaxes(-1, -2)
    d_scores = p * (d_p - (d_p * p).sum(axis=-1, keepdims=True))
    d_q = d_scores @ k / np.sqrt(WIDTH)
    d_k = d_scores.swapaxes(-1, -2) @ q / np.sqrt(WIDTH)
    d_ins = [merge(d) for d in (d_q, d_k, d_v)]
    d_ws = [np.einsum("bti,bto->io", x.numpy(), d) for d in d_ins]
    return (error**2).mean(), (*d_ws, d_wo)


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
assert our_loss < first / 3
print(f"{STEPS} steps: losses, four gradients and four matrices agree")
