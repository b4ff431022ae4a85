"""How many times the fastest step the first steps of the ten lines take on a CPU, with and without torch.compile."""

import platform
import re
import time
from pathlib import Path

import torch
from torch import nn

STEPS = (0, 1, 50, 99)
MODELS = {"not compiled": False, "a second model": False, "a third, compiled": True}


def seconds(compiled: bool) -> list[float]:
    """The time of each step of a new model, by the clock of this thread."""
    torch.manual_seed(0)
    x, target = torch.randn(8, 3), torch.randint(2, (8,))
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    run, times = torch.compile(model, backend="aot_eager") if compiled else model, []
    for step in range(100):
        if compiled and step == 50:
            torch.compiler.reset()
        start = time.thread_time()
        loss = nn.functional.cross_entropy(run(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        times.append(time.thread_time() - start)
    return times


def main() -> None:
    torch.set_num_threads(1)
    info = Path("/proc/cpuinfo")
    name = re.search(r"model name\s*: (.*)", info.read_text())[1].strip() if info.exists() else platform.processor()
    print("--8<-- [start:steps]")
    print(f"{name}, torch {torch.__version__.partition('+')[0]}, Python {platform.python_version()}, one thread\n")
    print("times the fastest    " + "".join(f"{f'step {step}':>9}" for step in STEPS))
    rows = {name: seconds(compiled) for name, compiled in MODELS.items()}
    fastest = min(map(min, rows.values()))
    for row, times in rows.items():
        print(f"{row:21}" + "".join(f"{times[step] / fastest:9,.1f}" for step in STEPS))
    print("--8<-- [end:steps]")


if __name__ == "__main__":
    main()
