# says: You may have detached grad
"""A gradient that cannot be differentiated."""

import torch


def kernel(x: torch.Tensor, by: float) -> torch.Tensor:
    a = x.numpy(force=True)
    y = a - by * a.mean(axis=-1, keepdims=True)
    return torch.from_numpy(y.copy(order="C"))


def fake(x, by):
    return x.new_empty(x.shape)


def setup(ctx, inputs, output):
    _, ctx.by = inputs


def backward(ctx, grad):
    return grad.detach() - ctx.by * grad.mean(dim=-1, keepdim=True), None


def register(name):
    op = torch.library.custom_op(name, kernel, mutates_args=())
    op.register_fake(fake)
    op.register_autograd(backward, setup_context=setup)
    return op
