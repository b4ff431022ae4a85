"""Run each program on batches that count, at each step, the bytes that are alive; compare its results."""

import gc
import weakref
from collections import Counter

import torch
from check import Wrong, plain, tensor
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

STEPS, ROWS, ALLOWED = 8, 256, 200  # steps, rows of a batch, bytes that a step may leave
IDEAS = {
    "hard_rows": "A slice holds the whole storage that it was cut from, and `detach` returns a view of it. Which "
    "storage do your rows hold?",
    "importance": "The hook holds a tensor whose node holds the hook. Python's collector does not see a ring through "
    "a node, so gc.collect() does not free it. Give the hook a tensor that has no node.",
    "spread": "Backward frees what the nodes of the loss have saved. The nodes that lead to your log are others, and "
    "nobody runs backward through them.",
}


class Births(TorchDispatchMode):
    """Notes the shape of each storage that comes to be, and the operator that made it."""

    def __init__(self):
        super().__init__()
        self.born = weakref.WeakKeyDictionary()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for t in filter(torch.is_tensor, tree_leaves(out)):
            self.born.setdefault(t.untyped_storage(), (func.overloadpacket.__name__, tuple(t.shape)))
        return out


def batches(births=None, counts=None):
    """Batches from a fixed seed; before each, what is alive goes into `counts`."""
    g = torch.Generator().manual_seed(1)
    for _ in range(STEPS):
        x = torch.randn(ROWS, 16, generator=g)
        target = (x.sum(1) > 0).long()
        yield x, target
        del x, target
        if births:
            gc.collect()
            alive = Counter()
            for storage, where in list(births.born.items()):
                alive[where] += storage.nbytes()
            counts.append(alive)


def prepared():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 8), nn.Tanh(), nn.Linear(8, 2))
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


def right():
    """What the three programs return."""
    found = {"hard_rows": [], "importance": [], "spread": []}
    model, optimizer = prepared()
    for x, target in batches():
        h = model[0](x)
        h.retain_grad()
        y = model[2](h.tanh())
        losses = cross_entropy(y, target, reduction="none")
        optimizer.zero_grad()
        losses.mean().backward()
        optimizer.step()
        found["hard_rows"].append(x[losses.argmax()].tolist())
        found["importance"].append((h.grad * h).sum().item())
        found["spread"].append((y[:, 0] - y[:, 1]).exp().mean().item())
    return found


def check_results(name, came, expected):
    came = tensor(came).tolist() if name == "hard_rows" else list(plain(came))
    wanted, got = torch.tensor(expected), torch.tensor(came)
    if got.shape != wanted.shape or not torch.allclose(got, wanted, rtol=1e-4, atol=1e-6):
        raise Wrong(
            f"{name} gave other results than the program that you got. The first that it returned is\n"
            f"  {came[0] if came else came}\nexpected is\n  {expected[0]}\nRepair the leak without changing what is "
            "computed."
        )


def check_memory(name, counts):
    growth = Counter(counts[-1])
    growth.subtract(counts[2])
    grown = sum(growth.values()) / (len(counts) - 3)
    if grown > ALLOWED:
        (operator, shape), _ = growth.most_common(1)[0]
        raise Wrong(
            f"each step of {name} leaves {grown:.0f} bytes, allowed are {ALLOWED}. Most of them were made by "
            f"`{operator}`, with the shape {shape}. {IDEAS[name]}"
        )


def check(work):
    gc.freeze()  # what is alive now needs no look at each step
    for name, expected in right().items():
        births, counts = Births(), []
        with births:
            came = getattr(work, name)(batches(births, counts))
        if len(counts) < STEPS:
            raise Wrong(f"{name} took {len(counts)} of {STEPS} batches")
        check_results(name, came, expected)
        check_memory(name, counts)
