"""A copy in the order of the rows, so the fake is contiguous; the derivative, in torch's operators, is center again."""

import torch


def kernel(x: torch.Tensor, by: float) -> torch.Tensor:
    a = x.numpy(force=True)
    y = a - by * a.mean(axis=-1, keepdims=True)
    return torch.from_numpy(y.copy(order="C"))


def fake(x, by):
    return x.new_empty(x.shape)


def setup(ctx, inputs, output):
    ctx.by = inputs[1]


def backward(ctx, grad):
    return grad - ctx.by * grad.mean(dim=-1, keepdim=True), None


def register(name):
    op = torch.library.custom_op(name, kernel, mutates_args=())
    op.register_fake(fake)
    op.register_autograd(backward, setup_context=setup)
    return op
