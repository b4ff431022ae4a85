"""What crosses from the CPU to a GPU and back, how long it takes, and when Python waits: sections for the pages."""

import tempfile
import time
import warnings
from pathlib import Path

import torch
from gpu import MB, peak, seconds, section
from torch import nn

with section("waits"):
    x, mask = torch.ones(3, device="cuda"), torch.tensor([True, False, True], device="cuda")
    index, pinned = torch.tensor([0, 2], device="cuda"), torch.ones(3).pin_memory()
    w = torch.ones(3, device="cuda", requires_grad=True)
    w.grad = torch.ones(3, device="cuda")
    optimizer = torch.optim.AdamW([w])
    calls = {
        "x.sum()": x.sum,
        "x.sum().item()": lambda: x.sum().item(),
        "print(x)": lambda: repr(x),
        "if x.any()": lambda: bool(x.any()),
        "x.tolist()": x.tolist,
        "x.cpu()": x.cpu,
        'x.to("cpu", non_blocking=True)': lambda: x.to("cpu", non_blocking=True),
        "x[index]": lambda: x[index],
        "x[mask]": lambda: x[mask],
        "x[mask] = 0": lambda: x.__setitem__(mask, 0),
        "torch.where(mask, x, 0)": lambda: torch.where(mask, x, 0),
        "x.nonzero()": x.nonzero,
        "x.unique()": x.unique,
        'torch.ones(3, device="cuda")': lambda: torch.ones(3, device="cuda"),
        'torch.tensor([1.0], device="cuda")': lambda: torch.tensor([1.0], device="cuda"),
        "torch.ones(3).cuda()": lambda: torch.ones(3).cuda(),
        "pinned.cuda()": pinned.cuda,
        "pinned.cuda(non_blocking=True)": lambda: pinned.cuda(non_blocking=True),
        "clip_grad_norm_([w], 1.0)": lambda: nn.utils.clip_grad_norm_([w], 1.0),
        "optimizer.step()": optimizer.step,
    }
    for code, call in calls.items():
        call()  # a first call may load kernels
        torch.cuda.synchronize()
        torch.cuda._sleep(200_000_000)  # some tenths of a second of work
        start = time.perf_counter()
        call()
        waited = time.perf_counter() - start > 0.02
        torch.cuda.synchronize()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            torch.cuda.set_sync_debug_mode("warn")
            call()
            torch.cuda.set_sync_debug_mode("default")
        assert waited == any("called a synchronizing" in str(one.message) for one in said), "the warning knows"
        print(f"{'waits' if waited else 'goes on':8}{code}")

with section("copies"):
    plain = torch.ones(256 * MB, dtype=torch.uint8)
    pinned, there = plain.pin_memory(), torch.empty(256 * MB, dtype=torch.uint8, device="cuda")
    seconds(there.copy_, plain, times=10)
    taken = []
    print("to the GPU                   time  Python waits")
    for name, source in (("plain", plain), ("pinned", pinned)):
        for later in (False, True):
            taken.append(seconds(there.copy_, source, later, times=10))
            torch.cuda.synchronize()
            start = time.perf_counter()
            there.copy_(source, non_blocking=later)
            waited = time.perf_counter() - start
            print(f"{name:7}non_blocking={later!s:7}{taken[-1] / taken[0]:6.0%}{waited / taken[0]:14.0%}")
    print(f"plain.pin_memory()          {seconds(plain.pin_memory, times=5) / taken[0]:5.0%}")

with section("loading"), tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.pt"

    def network(device):
        with torch.device(device):
            return nn.Sequential(*(nn.Linear(4096, 4096, bias=False) for _ in range(8)))

    def copied(where):
        model = network("cuda")
        model.load_state_dict(torch.load(path, map_location=where))

    def assigned():
        model = network("meta")
        model.load_state_dict(torch.load(path, map_location="cuda"), assign=True)

    torch.save(network("cpu").state_dict(), path)
    print('map_location="cuda", then copied: ', peak(lambda: copied("cuda")), "MiB")
    print('map_location="cpu", then copied:  ', peak(lambda: copied("cpu")), "MiB")
    print('map_location="cuda", assign=True: ', peak(assigned), "MiB")
