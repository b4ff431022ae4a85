"""A classifier learns twice, and the gradient at its logits is probability minus target."""

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

STEPS, RATE = 150, 2.0
torch.manual_seed(0)
x = torch.rand(24, 3, dtype=torch.float64) * 2 - 1
t = (x.sum(dim=1) > 0.2).double()
start = [torch.rand(shape, dtype=torch.float64) - 0.5 for shape in ((3,), ())]


# --8<-- [start:twins]
def by_autograd(w, b):
    loss = binary_cross_entropy_with_logits(x @ w + b, t)
    return loss, torch.autograd.grad(loss, (w, b))


def by_hand(w, b):
    z = x.numpy() @ w + b  # (24,)
    small = np.exp(-np.abs(z))  # never overflows
    loss = np.maximum(z, 0) - z * t.numpy() + np.log1p(small)
    p = np.where(z >= 0, 1, small) / (1 + small)
    d_z = (p - t.numpy()) / z.size
    return loss.mean(), (x.numpy().T @ d_z, d_z.sum())


# --8<-- [end:twins]
def same(torchs, ours):
    np.testing.assert_allclose(ours, torchs.detach().numpy(), rtol=1e-9, atol=1e-12)


# Logits in the thousands: exp(z) would overflow, exp(-|z|) does not.
big = [5000 * p for p in start]
loss, grads = by_autograd(*[p.requires_grad_() for p in big])
our_loss, our_grads = by_hand(*[p.detach().numpy() for p in big])
for torchs, ours in zip((loss, *grads), (our_loss, *our_grads), strict=True):
    assert np.isfinite(ours).all()
    same(torchs, ours)

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
    hand = [p - RATE * grad for p, grad in zip(hand, our_grads, strict=True)]
for p, ours in zip(auto, hand, strict=True):
    same(p, ours)
right = int(((x @ auto[0] + auto[1] > 0) == (t > 0)).sum())
assert right >= 22 and our_loss < first / 3
print(f"{STEPS} steps agree, and {right} of {len(t)} samples are classified right")
