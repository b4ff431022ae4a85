# says: disabling moves the break and keeps it
"""Hides the difficult part from Dynamo."""

import torch
from torch import nn


class Monitor(nn.Module):
    def __init__(self, limit):
        super().__init__()
        self.limit = limit
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("scaled", torch.zeros((), dtype=torch.int64))

    @torch.compiler.disable
    def scale(self, x):
        norm = x.square().sum().sqrt().item()
        if norm > self.limit:
            self.scaled += 1
            x = x * (self.limit / norm)
        return x

    def forward(self, x):
        self.calls += 1
        x = self.scale(x)
        x = torch.where(x.sum(1, keepdim=True) < 0, x * 0.1, x)
        best = x.sum(1).argmax(0, keepdim=True)
        return x, x[best][0]
