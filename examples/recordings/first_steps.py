"""How many times the fastest step the first step of a small model takes on a CPU, and how much of it is imports."""

import builtins
import platform
import re
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch import nn

find, spent, within = builtins.__import__, [], []


def importing(*args: Any, **kwargs: Any) -> Any:
    """Import, and note how long that took, unless all modules were there or another import is under way."""
    modules, start = len(sys.modules), time.thread_time()
    within.append(args)
    try:
        return find(*args, **kwargs)
    finally:
        within.pop()
        if not within and len(sys.modules) > modules:
            spent.append(time.thread_time() - start)


def seconds(model: nn.Module, compiled: bool) -> tuple[float, float, float]:
    """The time of step 0, how much of it was imports, and the time of the fastest step, by the clock of this thread."""
    x, target = torch.randn(8, 3), torch.randint(2, (8,))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    run = torch.compile(model, backend="aot_eager") if compiled else model

    def step() -> float:
        start = time.thread_time()
        loss = nn.functional.cross_entropy(run(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return time.thread_time() - start

    spent.clear()
    builtins.__import__ = importing
    first = step()
    builtins.__import__ = find
    return first, sum(spent), min(step() for _ in range(99))


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    info = Path("/proc/cpuinfo")
    name = re.search(r"model name\s*: (.*)", info.read_text())[1].strip() if info.exists() else platform.processor()
    print("--8<-- [start:steps]")
    print(f"{name}, torch {torch.__version__.partition('+')[0]}, Python {platform.python_version()}, one thread\n")
    print("times the fastest   step 0  imports  the rest")
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    other = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
    for row, asked in {
        "model": (model, False),
        "model, compiled": (model, True),
        "other, compiled": (other, True),
    }.items():
        first, imports, fastest = seconds(*asked)
        print(f"{row:16}{first / fastest:10,.1f}{imports / fastest:9,.1f}{(first - imports) / fastest:10,.1f}")
    print("--8<-- [end:steps]")


if __name__ == "__main__":
    main()
