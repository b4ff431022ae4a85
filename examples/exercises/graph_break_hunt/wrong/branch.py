# says: no `if`, no Python number
"""Still branches on the norm."""

import torch
from torch import nn


class Monitor(nn.Module):
    def __init__(self, limit):
        super().__init__()
        self.limit = limit
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("scaled", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls += 1
        norm = x.detach().square().sum().sqrt()
        if norm > self.limit:
            self.scaled += 1
            x = x * (self.limit / norm)
        x = torch.where(x.sum(1, keepdim=True) < 0, x * 0.1, x)
        best = x.sum(1).argmax(0, keepdim=True)
        return x, x[best][0]
