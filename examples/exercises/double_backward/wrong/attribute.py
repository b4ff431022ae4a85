# says: past save_for_backward
"""Keeps x as an attribute."""

import torch


class Bump(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, width):
        y = torch.exp(-((x / width) ** 2))
        ctx.x, ctx.y = x, y
        ctx.width = width
        return y

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.y * (-2 * ctx.x / ctx.width**2), None
