# says: the factor y counts as a constant
"""Detaches y."""

import torch


class Bump(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, width):
        y = torch.exp(-((x / width) ** 2))
        ctx.save_for_backward(x, y)
        ctx.width = width
        return y

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * y.detach() * (-2 * x / ctx.width**2), None
