"""What the book says about GPUs, run on one: each section is printed between two marks, for the pages to include."""

import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import torch
from gpu import MB, message, section, smi
from torch import nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.benchmark import Timer


def tensor(mib):
    return torch.empty(mib * MB, dtype=torch.uint8, device="cuda")


def memory(step):
    torch.cuda.synchronize()
    allocated, reserved = torch.cuda.memory_allocated() // MB, torch.cuda.memory_reserved() // MB
    print(f"{step:13}{allocated:4}{reserved:5}{smi('memory.used'):>5}")


torch.cuda.init()
tensor(1).fill_(0)  # loads the kernel of fill_, which takes memory of its own
torch.cuda.empty_cache()
with section("smi"):
    print("MiB allocated, reserved, in nvidia-smi")
    memory("CUDA is up")
    big = tensor(256).fill_(1)
    memory("x of 256 MiB")
    del big
    memory("del x")
    torch.cuda.empty_cache()
    memory("empty_cache()")

with section("oom"):
    torch.cuda.set_per_process_memory_fraction((80 * MB + 1000) / torch.cuda.mem_get_info()[1])
    a, b, c = (tensor(22) for _ in range(3))
    del a, b, c
    d, e, f = (tensor(12) for _ in range(3))
    message("tensor(20)", lambda: tensor(20))
    del d, e, f
torch.cuda.set_per_process_memory_fraction(1.0)
torch.cuda.empty_cache()

with section("streams"):
    first, second, seen = torch.cuda.Stream(), torch.cuda.Stream(), torch.zeros(3, device="cuda")
    for recorded in (False, True):
        torch.cuda.synchronize()
        with torch.cuda.stream(first):
            ones = torch.ones(3, device="cuda")
        second.wait_stream(first)
        with torch.cuda.stream(second):
            torch.cuda._sleep(400_000_000)  # some tenths of a second
            seen.copy_(ones)
        if recorded:
            ones.record_stream(second)
        del ones
        states = {b["state"] for s in torch.cuda.memory._snapshot()["segments"] for b in s["blocks"]}
        with torch.cuda.stream(first):
            nines = torch.full((3,), 9.0, device="cuda")
        torch.cuda.synchronize()
        print(f"record={recorded!s:5} saw {seen.tolist()}", *sorted(states), sep="\n  ")
    del seen, nines
    torch.cuda.empty_cache()

with section("pinned"):
    for mib in (3, 66, 130):
        before = torch.cuda.host_memory_stats()["allocated_bytes.current"]
        x = torch.empty(mib * MB, dtype=torch.uint8, pin_memory=True)
        more = torch.cuda.host_memory_stats()["allocated_bytes.current"] - before
        print(f"{mib} MiB: {more // MB} MiB pinned")

with section("step"):
    torch.manual_seed(0)
    x, target = torch.randn(8, 3, device="cuda"), torch.randint(2, (8,), device="cuda")
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    made = [0]
    for _ in range(3):  # of the ten lines
        torch.cuda.reset_peak_memory_stats()
        loss = nn.functional.cross_entropy(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        stats = torch.cuda.memory_stats()
        made.append(stats["allocation.all.allocated"])
    print("one more step:", made[3] - made[2], "allocations")
    print("bytes requested, allocated, reserved")
    for pool in ("small", "large"):
        sizes = (stats[f"{name}_bytes.{pool}_pool.peak"] for name in ("requested", "allocated", "reserved"))
        print(pool, *(f"{size:>9}" for size in sizes))
    del x, target, model, optimizer, loss
    torch.cuda.empty_cache()

with section("devices"):
    x, w, row = torch.ones(8, 3), torch.ones(3, device="cuda"), torch.tensor([0, 1])
    layer = nn.Linear(3, 4).cuda()
    message("layer(x)", lambda: layer(x))
    message("x + w", lambda: x + w)
    message("w.index_select(0, row)", lambda: w.index_select(0, row))
    message("w.numpy()", w.numpy)

with section("assert"):
    folder = Path(__file__).parent
    for blocking in ("0", "1"):
        print(f"CUDA_LAUNCH_BLOCKING={blocking} python wrong.py")
        env = {**os.environ, "CUDA_LAUNCH_BLOCKING": blocking}
        done = subprocess.run([sys.executable, "wrong.py"], cwd=folder, env=env, stderr=subprocess.PIPE, text=True)
        lines = done.stderr.splitlines()
        for at, line in enumerate(lines):
            if "Assertion" in line:
                print(textwrap.fill(line.split("/")[-1], 76))
            if 'wrong.py"' in line:
                print(line.strip().replace(f"{folder}/", ""), lines[at + 1].strip(), sep="\n    ")
            if "CUDA error" in line or "might be asynchronously" in line:
                print(textwrap.fill(line, 76))

with section("clock"):
    x = torch.ones(4000, 4000, device="cuda")

    def clock(wait):
        """The shortest of ten times of a product, with or without waiting for the device."""
        times = []
        for _ in range(10):
            torch.cuda.synchronize()
            start = time.perf_counter()
            x @ x
            if wait:
                torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
        return min(times)

    done = clock(wait=True)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    start.record()
    x @ x
    end.record()
    torch.cuda.synchronize()
    print(f"without waiting {clock(wait=False) / done:7.1%} of the time with waiting")
    print(f"two events      {start.elapsed_time(end) / 1000 / done:7.1%}")
    print(f"Timer           {Timer('x @ x', globals={'x': x}).timeit(20).mean / done:7.1%}")

with section("profile"):
    layer, x = nn.Linear(3, 4).cuda(), torch.ones(8, 3, device="cuda")
    for _ in range(2):  # the first profile also has work of the profiler's own
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
            layer(x)
            torch.cuda.synchronize()

    def tree(event, indent):
        """The event, the work that it queued for the GPU, and the events inside it."""
        print(indent + event.name)
        for kernel in event.kernels:
            print(f"{indent}  GPU: {kernel.name[:40]}")
        for child in event.cpu_children:
            tree(child, indent + "  ")

    tree(next(event for event in prof.events() if event.name == "aten::linear"), "")
    for row in prof.key_averages():
        if row.key in ("aten::linear", "aten::addmm"):
            own, total = row.self_device_time_total, row.device_time_total
            print(f"{row.key}: Self CUDA is {own / total:.0%} of CUDA total")

with section("training"):
    torch.ones(8, 8, device="cuda") @ torch.ones(8, 8, device="cuda")  # cuBLAS takes its workspace
    for samples, kind in ((256, "foreach"), (256, "fused"), *((n, "for-loop") for n in (256, 1024, 8192, 16384))):
        before = torch.cuda.memory_stats()["requested_bytes.all.current"]
        layers = [nn.Linear(4096, 4096, device="cuda") for _ in range(24)]
        model = nn.Sequential(*(part for layer in layers for part in (layer, nn.ReLU())), nn.Linear(4096, 2).cuda())
        optimizer = torch.optim.AdamW(model.parameters(), **{kind: True} if kind != "for-loop" else {"foreach": False})
        batch, target = torch.ones(samples, 4096, device="cuda"), torch.ones(samples, device="cuda").long()
        for _ in range(2):
            torch.cuda.reset_peak_memory_stats()
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(batch), target).backward()
            optimizer.step()
        stats = torch.cuda.memory_stats()
        requested, reserved = (stats[f"{name}_bytes.all.peak"] for name in ("requested", "reserved"))
        print(
            f"{samples:5} samples, {kind:8} {(requested - before) / 2**30:5.2f} GiB, reserved {reserved / 2**30:5.2f}"
        )
        del layers, model, optimizer, batch, target
        torch.cuda.empty_cache()

with section("parameters"):
    model = nn.Linear(3, 2)
    kept = list(model.parameters())
    model.to("cuda")
    print("the same Parameters:", all(old is new for old, new in zip(kept, model.parameters(), strict=True)))

with section("threads"):
    w = torch.ones(2, requires_grad=True)
    y = w.cuda() * 2
    for name, t in {"w": w, "y": y}.items():
        t.register_hook(lambda _, name=name: print(name, "in thread", threading.get_native_id() - os.getpid()))
    y.sum().backward()

with section("random"):
    torch.manual_seed(0)
    generator = torch.cuda.default_generators[0]
    print(f"CPU: first {torch.rand(3)[0].item():.4f}")
    for size in (3, 1000, 10_000_000):
        before = generator.get_offset()
        first = torch.rand(size, device="cuda")[0].item()
        print(f"GPU: first {first:.4f} of {size}, offset from {before} to {generator.get_offset()}")
