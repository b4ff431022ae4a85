# says: You may have taken the mean of all elements. Each row
"""One mean for the whole tensor."""

import torch


def kernel(x: torch.Tensor, by: float) -> torch.Tensor:
    a = x.numpy(force=True)
    y = a - by * a.mean()
    return torch.from_numpy(y.copy(order="C"))


def fake(x, by):
    return x.new_empty(x.shape)


def setup(ctx, inputs, output):
    _, ctx.by = inputs


def backward(ctx, grad):
    return grad - ctx.by * grad.mean(dim=-1, keepdim=True), None


def register(name):
    op = torch.library.custom_op(name, kernel, mutates_args=())
    op.register_fake(fake)
    op.register_autograd(backward, setup_context=setup)
    return op
