"""Monitor breaks its graph. Rewrite it: one graph, compiled once."""

import torch
from torch import nn


class Monitor(nn.Module):
    """Scales a batch down to the norm `limit`, and keeps count.

    It also damps the rows whose sum is negative. It returns the batch and
    its row with the largest sum. Keep results, gradients and the counts
    `calls` and `scaled`, which may become tensors. The print may go.
    """

    def __init__(self, limit):
        super().__init__()
        self.limit = limit
        self.calls = 0
        self.scaled = 0

    def forward(self, x):
        self.calls += 1
        norm = x.square().sum().sqrt().item()
        if norm > self.limit:
            print(f"norm {norm:.2f}")
            self.scaled += 1
            x = x * (self.limit / norm)
        rows = []
        for row in x:
            if row.sum() < 0:
                row = row * 0.1
            rows.append(row)
        x = torch.stack(rows)
        best = int(x.sum(1).argmax())
        return x, x[best]


if __name__ == "__main__":
    try:
        monitor = Monitor(1.0)
        monitor.compile(backend="eager", fullgraph=True)
        monitor(torch.ones(2, 3))
        print("one graph")
    except torch._dynamo.exc.TorchDynamoException as error:
        place = error.real_stack[-1]
        print(f"no graph yet, because of line {place.lineno}: {place.line}")
