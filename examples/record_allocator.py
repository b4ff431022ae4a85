"""A recording of the caching allocator at work: the ten lines on a CUDA device, and calls that ask for each rule."""

import json
import shutil
import subprocess
import sys

import torch
from torch import nn

if not torch.cuda.is_available():
    print("skipped: no CUDA device, so there is no caching allocator to record")
    sys.exit(77)  # the status by which test runners know a skip

SMI = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
FIELDS = "action", "addr", "size", "stream"


def train(steps):
    """The ten lines without the line that compiles."""
    torch.manual_seed(0)
    x, target = torch.randn(8, 3, device="cuda"), torch.randint(2, (8,), device="cuda")
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def rules():
    """Sizes on both sides of each limit of the header; each tensor goes before the next comes, but for the first."""
    first = torch.empty(9 << 20, dtype=torch.uint8, device="cuda")
    for size in (1, 512, 513, 1 << 20, (1 << 20) + 1, 8 << 20, 9 << 20, 10 << 20, 11 << 20, (64 << 20) + 1):
        torch.empty(size, dtype=torch.uint8, device="cuda")
    del first


def record(program):
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
    trace = [{name: entry[name] for name in FIELDS} for entry in snapshot["device_traces"][0] if "addr" in entry]
    after = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
    return {"before": before, "after": after, "segments": snapshot["segments"], "device_traces": [trace]}


recording = {
    "device": torch.cuda.get_device_name(),
    "driver": subprocess.check_output(SMI, text=True).split() if shutil.which(SMI[0]) else None,
    "torch": torch.__version__,
    "cuda": torch.version.cuda,
    "settings": torch._C._accelerator_getAllocatorSettings(),
    "rules": record(rules),
    "train": record(lambda: train(2)),
}
with open("allocator.json", "w") as file:
    json.dump(recording, file)
print("allocator.json:", *(f"{name} {recording[name]}," for name in ("device", "driver", "torch", "cuda")))
for name in ("rules", "train"):
    print(f"{name}: {len(recording[name]['device_traces'][0])} entries, {recording[name]['after']} allocated, reserved")
