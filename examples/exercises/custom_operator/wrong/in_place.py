# says: wrote into x
"""An operation in place on an array that shares memory with x."""

import torch


def kernel(x: torch.Tensor, by: float) -> torch.Tensor:
    a = x.numpy(force=True)
    a -= by * a.mean(axis=-1, keepdims=True)
    return torch.from_numpy(a.copy(order="C"))


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
