"""Three training programs that leak. Repair them, keep the results."""

import gc
import weakref

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def prepared():
    """The same model and optimizer at each call."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 8), nn.Tanh(), nn.Linear(8, 2))
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


def hard_rows(batches):
    """Train; return the row of each batch with the highest loss."""
    model, optimizer = prepared()
    rows = []
    for x, target in batches:
        losses = cross_entropy(model(x), target, reduction="none")
        optimizer.zero_grad()
        losses.mean().backward()
        optimizer.step()
        rows.append(x[losses.argmax()])
    return torch.stack(rows)


def importance(batches):
    """Train; return the sum of activation times gradient, per batch."""
    model, optimizer = prepared()
    sums = []
    for x, target in batches:
        h = model[0](x)

        def note(grad, h=h):
            sums.append((grad * h).sum().item())

        h.register_hook(note)
        optimizer.zero_grad()
        cross_entropy(model[2](h.tanh()), target).backward()
        optimizer.step()
    return sums


def spread(batches):
    """Train; return the mean of exp(y0 - y1), per batch."""
    model, optimizer = prepared()
    log = []
    for x, target in batches:
        y = model(x)
        log.append((y[:, 0] - y[:, 1]).exp().mean())
        optimizer.zero_grad()
        cross_entropy(y, target).backward()
        optimizer.step()
    return [value.item() for value in log]


class Births(TorchDispatchMode):
    """Collects the storages that operators make, while they are alive."""

    def __init__(self):
        super().__init__()
        self.alive = weakref.WeakSet()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for t in filter(torch.is_tensor, tree_leaves(out)):
            self.alive.add(t.untyped_storage())
        return out


def left(program):
    """The bytes of tensors that the last step of a program leaves."""
    counts = []

    def batches():
        for _ in range(4):
            x = torch.randn(256, 16)
            yield x, (x.sum(1) > 0).long()
            gc.collect()
            counts.append(sum(s.nbytes() for s in births.alive))

    with Births() as births:
        program(batches())
    return counts[-1] - counts[-2]


if __name__ == "__main__":
    programs = hard_rows, importance, spread
    found = [f"{program.__name__} {left(program)}" for program in programs]
    print("bytes that a step leaves:", ", ".join(found))
