# says: asks autograd for the derivative
"""Runs forward again, inside backward, with autograd."""

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
        x, _ = ctx.saved_tensors
        with torch.enable_grad():
            y = torch.exp(-((x / ctx.width) ** 2))
        return *torch.autograd.grad(y, x, grad, create_graph=True), None
