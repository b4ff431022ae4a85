# says: The slope was computed in forward
"""Computes all it can in forward."""

import torch


class Bump(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, width):
        y = torch.exp(-((x / width) ** 2))
        ctx.save_for_backward(-2 * x / width**2 * y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (slope,) = ctx.saved_tensors
        return grad * slope, None
