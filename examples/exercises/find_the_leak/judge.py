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
    "hard_rows": "A view holds the whole storage of its tensor, and `detach` returns a view, too. Ask a row for "
    "`untyped_storage().nbytes()`: which storage do your rows hold?",
    "importance": "The hook holds a tensor, the tensor its node, and the node the hook. Python's collector sees no "
    "reference cycle through a node, so gc.collect() does not free it. Give the hook a tensor that has no node.",
    "spread": "Backward frees what the nodes of the loss have saved. The nodes that lead to your log are others, and "
    "no backward runs through them.",
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
    if got.shape != wanted.shape:
        raise Wrong(
            f"{name} got {STEPS} batches of {ROWS} rows and returned numbers of shape {tuple(got.shape)}; expected is "
            f"the shape {tuple(wanted.shape)}, as from the program that you got"
        )
    for step, (mine, exact) in enumerate(zip(got, wanted)):
        if not torch.allclose(mine, exact, rtol=1e-4, atol=1e-6):
            shown = [", ".join(f"{value:.4f}" for value in t.reshape(-1)) for t in (mine, exact)]
            raise Wrong(
                f"{name} gave other results than the program that you got, first for batch {step}\n  gave      "
                f"{shown[0]}\n  expected  {shown[1]}\nRepair the leak without changing what is computed."
            )


def check_memory(name, counts):
    growth = Counter(counts[-1])
    growth.subtract(counts[2])
    grown = sum(growth.values()) / (len(counts) - 3)
    if grown > ALLOWED:
        (operator, shape), _ = growth.most_common(1)[0]
        raise Wrong(
            f"each step of {name} leaves {grown:.0f} bytes; at most {ALLOWED} are allowed. The largest part was made "
            f"by `{operator}` and has the shape {shape}.\n{IDEAS[name]}"
        )


def check(work):
    gc.freeze()  # what is alive now needs no look at each step
    for name, expected in right().items():
        births, counts = Births(), []
        with births:
            came = getattr(work, name)(batches(births, counts))
        if len(counts) < STEPS:
            raise Wrong(f"{name} took {len(counts)} of the {STEPS} batches that it got; it has to take all of them")
        check_results(name, came, expected)
        check_memory(name, counts)
