# says: the x in front counts as a constant
"""Saves a step of forward."""

import torch


class Bump(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, width):
        y = torch.exp(-((x / width) ** 2))
        ctx.save_for_backward(-2 * x / width**2, y)
        return y

    @staticmethod
    def backward(ctx, grad):
        inner, y = ctx.saved_tensors
        return grad * y * inner, None
