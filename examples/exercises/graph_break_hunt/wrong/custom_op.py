# says: You may have thought that this removes the break
"""Wraps the difficult part into an operator."""

import torch
from torch import nn


@torch.library.custom_op("mine::factor", mutates_args=())
def factor(x: torch.Tensor, limit: float) -> torch.Tensor:
    norm = x.square().sum().sqrt().item()
    return torch.tensor(limit / norm if norm > limit else 1.0)


@factor.register_fake
def _(x, limit):
    return x.new_empty(())


class Monitor(nn.Module):
    def __init__(self, limit):
        super().__init__()
        self.limit = limit
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("scaled", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls += 1
        norm = x.detach().square().sum().sqrt()
        above = norm > self.limit
        self.scaled += above
        x = x * factor(x.detach(), self.limit)
        x = torch.where(x.sum(1, keepdim=True) < 0, x * 0.1, x)
        best = x.sum(1).argmax(0, keepdim=True)
        return x, x[best][0]
