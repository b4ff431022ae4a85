# says: an attribute that forward counts up
"""Counts in Python."""

import torch
from torch import nn


class Monitor(nn.Module):
    def __init__(self, limit):
        super().__init__()
        self.limit = limit
        self.calls = 0
        self.register_buffer("scaled", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls += 1
        norm = x.detach().square().sum().sqrt()
        above = norm > self.limit
        self.scaled += above
        x = x * torch.where(above, self.limit / norm, 1.0)
        x = torch.where(x.sum(1, keepdim=True) < 0, x * 0.1, x)
        best = x.sum(1).argmax(0, keepdim=True)
        return x, x[best][0]
