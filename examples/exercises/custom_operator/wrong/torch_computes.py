# says: PyTorch can look into
"""The kernel in torch."""

import torch


def kernel(x: torch.Tensor, by: float) -> torch.Tensor:
    y = x - by * x.mean(dim=-1, keepdim=True)
    return y.clone(memory_format=torch.contiguous_format)


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
