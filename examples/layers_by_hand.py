"""A small network with attention, of layers written by hand, learns as it does with torch's layers."""

import torch
from torch.nn import functional

torch.manual_seed(0)
x, target = torch.randn(8, 3).double(), torch.randint(2, (8,))
shapes = {"first": (4, 3), "norm": (4,), "q": (4, 4), "k": (4, 4), "v": (4, 4), "last": (2, 4)}
start = {name: (torch.randn(shape).double() / 2, torch.zeros(shape[:1]).double()) for name, shape in shapes.items()}


def normalized(x):
    r = (x.var(-1, correction=0, keepdim=True) + 1e-5) ** -0.5
    return (x - x.mean(-1, keepdim=True)) * r, r


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, b):
        ctx.save_for_backward(x, w)
        return x @ w.T + b

    @staticmethod
    def backward(ctx, d_y):
        x, w = ctx.saved_tensors
        return d_y @ w, d_y.T @ x, d_y.sum(0)


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, b):
        ctx.save_for_backward(x, w)
        return normalized(x)[0] * w + b

    @staticmethod
    def backward(ctx, d_y):
        x, w = ctx.saved_tensors
        (n, r), d_n = normalized(x), d_y * w
        along = (d_n * n).mean(-1, keepdim=True)
        d_x = r * (d_n - d_n.mean(-1, keepdim=True) - n * along)
        return d_x, (d_y * n).sum(0), d_y.sum(0)


def probabilities(q, k):
    return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)


# --8<-- [start:attention]
class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        ctx.save_for_backward(q, k, v)
        return probabilities(q, k) @ v

    @staticmethod
    def backward(ctx, d_y):
        q, k, v = ctx.saved_tensors
        p, d_p, c = probabilities(q, k), d_y @ v.mT, q.shape[-1]
        d_s = p * (d_p - (d_p * p).sum(-1, keepdim=True))
        return d_s @ k / c**0.5, d_s.mT @ q / c**0.5, p.mT @ d_y


# --8<-- [end:attention]


# --8<-- [start:network]
def network(weights, linear, norm, attention):
    h = linear(x, *weights["first"])
    n = norm(h, *weights["norm"])
    q, k, v = (linear(n, *weights[name]) for name in "qkv")
    y = h + attention(q, k, v)
    return linear(y, *weights["last"])


# --8<-- [end:network]


ours = Linear.apply, LayerNorm.apply, Attention.apply
torchs = (
    functional.linear,
    lambda x, w, b: functional.layer_norm(x, (4,), w, b),
    functional.scaled_dot_product_attention,
)


def trained(layers):
    """The loss of each of 200 steps, and the parameters after them."""
    p = {name: tuple(t.clone().requires_grad_() for t in pair) for name, pair in start.items()}
    optimizer = torch.optim.SGD([t for pair in p.values() for t in pair], lr=0.1)
    losses = []
    for _ in range(200):
        loss = functional.cross_entropy(network(p, *layers), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [t for pair in p.values() for t in pair]


(our_losses, our_parameters), (losses, parameters) = trained(ours), trained(torchs)
print("step    ours    torch")
for step in (0, 50, 199):
    print(f"{step:4}  {our_losses[step]:.4f}  {losses[step]:.4f}")
for one, other in zip(our_parameters, parameters, strict=True):
    torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-9)
torch.testing.assert_close(our_losses, losses, rtol=1e-6, atol=1e-9)
assert losses[-1] < losses[0] / 4
print(f"{len(losses)} losses and {sum(t.numel() for t in parameters)} parameters agree")


def inputs(*shapes):
    return [torch.randn(shape).double().requires_grad_() for shape in shapes]


print("gradcheck of LayerNorm:", torch.autograd.gradcheck(LayerNorm.apply, inputs((8, 4), (4,), (4,))))
print("gradcheck of Attention:", torch.autograd.gradcheck(Attention.apply, inputs((2, 4, 6), (2, 5, 6), (2, 5, 3))))
