# says: keeps autograd out of backward
"""Forbids what was asked for."""

import torch
from torch.autograd.function import once_differentiable


class Bump(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, width):
        y = torch.exp(-((x / width) ** 2))
        ctx.save_for_backward(x, y)
        ctx.width = width
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * y * (-2 * x / ctx.width**2), None
