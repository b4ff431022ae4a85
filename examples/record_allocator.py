"""A recording of the caching allocator at work: the ten lines on a CUDA device, each rule, and too little memory."""

import contextlib
import functools
import gzip
import itertools
import json
import random
import shutil
import subprocess
import sys

import torch
from torch import nn

if not torch.cuda.is_available():
    print("skipped: no CUDA device, so there is no caching allocator to record")
    sys.exit(77)  # the status by which test runners know a skip

MB, SEQUENCES = 2**20, 10
SMI = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
FIELDS = "action", "addr", "size", "stream"
KEPT = "alloc", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap", "oom"


def tensor(size):
    return torch.empty(size, dtype=torch.uint8, device="cuda")


def train():
    """Two steps of the ten lines without the line that compiles."""
    torch.manual_seed(0)
    x, target = torch.randn(8, 3, device="cuda"), torch.randint(2, (8,), device="cuda")
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(2):
        loss = nn.functional.cross_entropy(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def rules():
    """Sizes on both sides of each limit of the header; each tensor goes before the next comes, but for the first."""
    first = tensor(9 * MB)
    for size in (1, 512, 513, MB, MB + 1, 8 * MB, 9 * MB, 10 * MB, 11 * MB, 64 * MB + 1):
        tensor(size)
    del first


def too_little(seed):
    """100 times a tensor more or one less, at random, where 400 MiB are allowed."""
    draw, live = random.Random(seed), []
    for _ in range(100):
        if live and draw.random() < 0.4:
            live.pop(draw.randrange(len(live)))
        else:
            with contextlib.suppress(torch.OutOfMemoryError):
                live.append(tensor(draw.randint(2, 40) * MB))


def record(program, **settings):
    """What the allocator did in `program`, from an empty cache: its trace, and the segments that were left."""
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
    torch.cuda.memory._record_memory_history(context=None)
    program()
    snapshot = torch.cuda.memory._snapshot()
    torch.cuda.memory._record_memory_history(enabled=None)
    for segment in snapshot["segments"]:
        assert sum(block["size"] for block in segment["blocks"]) == segment["total_size"], "the blocks tile a segment"
        for part in (segment, *segment["blocks"]):
            part.pop("frames", None)
    trace = [entry for entry in snapshot["device_traces"][0] if entry["action"] in KEPT]
    trace = [{name: entry[name] for name in FIELDS if name in entry} for entry in trace]
    after = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
    return {**settings, "before": before, "after": after, "segments": snapshot["segments"], "device_traces": [trace]}


recording = {
    "device": torch.cuda.get_device_name(),
    "driver": subprocess.check_output(SMI, text=True).strip() if shutil.which(SMI[0]) else None,
    "torch": torch.__version__,
    "cuda": torch.version.cuda,
    "rules": record(rules, expandable=False, allowed=None),
    "train": record(train, expandable=False, allowed=None),
}
torch.cuda.empty_cache()
allowed = torch.cuda.memory_reserved() + 400 * MB  # what the ten lines left, the workspace of cuBLAS, stays
torch.cuda.set_per_process_memory_fraction((allowed + 1000) / torch.cuda.mem_get_info()[1])
for pages, seed in itertools.product((False, True), range(SEQUENCES)):
    torch._C._accelerator_setAllocatorSettings(f"expandable_segments:{pages}")
    program = functools.partial(too_little, seed)
    recording[f"expandable_segments:{pages}, seed {seed}"] = record(program, expandable=pages, allowed=400 * MB)
with gzip.open("allocator.json.gz", "wt") as file:
    json.dump(recording, file)
print("allocator.json.gz:", ", ".join(f"{name} {recording[name]}" for name in ("device", "driver", "torch", "cuda")))
for name, recorded in list(recording.items())[4:]:
    print(f"{name}: {len(recorded['device_traces'][0])} entries, {recorded['after']} allocated, reserved")
