# says: is that of another width
"""Keeps the width where the next call overwrites it."""

import torch


class Bump(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, width):
        y = torch.exp(-((x / width) ** 2))
        ctx.save_for_backward(x, y)
        Bump.width = width
        return y

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * y * (-2 * x / Bump.width**2), None
