"""Played through a model of the caching allocator: a training step, fragmentation, and a snapshot of your own."""

import gzip
import json
import os
import pickle
import sys
from pathlib import Path

os.environ["KINETO_LOG_LEVEL"] = "99"  # else each profile writes a line to stderr

import torch
from caching_allocator import MB, USED, Allocator, OutOfMemory
from expandable_segments import Expandable
from recordings.against import compare, replay
from torch import nn
from torch.cuda._memory_viz import _profile_to_snapshot  # private
from torch.profiler import ProfilerActivity, profile


# --8<-- [start:draw]
def draw(segments, cell=MB):
    """A row for each segment, and in it a mark for each `cell` bytes: # in use, . free, | between two blocks."""
    for s in segments:
        marks = (("#" if b["state"] == USED else ".") * max(1, round(b["size"] / cell)) for b in s["blocks"])
        print(f"{s['segment_type']} {s['total_size'] / MB:g} MiB".rjust(13), "|" + "|".join(marks) + "|")


# --8<-- [end:draw]
def train():
    """The ten lines without the line that compiles, and with two steps."""
    torch.manual_seed(0)
    x, target = torch.randn(8, 3), torch.randint(2, (8,))
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(2):
        loss = nn.functional.cross_entropy(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


# --8<-- [start:cpu]
def cpu_trace(program):
    """The allocations of a program on the CPU, as entries of a snapshot's trace. It must make all that it frees.

    An in-place operation is in the trace as well, as a free and an allocation of the same storage.
    """
    activities = [ProfilerActivity.CPU]
    with profile(activities=activities, profile_memory=True, record_shapes=True, with_stack=True) as prof:
        program()
    return _profile_to_snapshot(prof)["device_traces"][0]


# --8<-- [end:cpu]
# --8<-- [start:fragments]
def grow(model):
    """Five times a tensor that is larger than the one before, and in its place, when it is gone, one that stays."""
    for size in (20, 22, 24, 26, 28):
        model.free(model.malloc(size * MB))
        model.malloc(14 * MB)


# --8<-- [end:fragments]
if __name__ == "__main__":
    if sys.argv[1:]:  # a pickle of torch.cuda.memory._dump_snapshot, or what record_allocator.py wrote
        data = Path(sys.argv[1]).read_bytes()
        own = {"expandable": "--expandable" in sys.argv, "allowed": None}
        found = json.loads(gzip.decompress(data)) if data[:2] == b"\x1f\x8b" else {"snapshot": own | pickle.loads(data)}
        for name, recorded in found.items():
            if isinstance(recorded, dict):
                print(name, *compare(recorded), sep=", ")
        sys.exit()

    print("9, 9 and 8 MiB; then the first is freed, and 8 MiB are wanted again:")
    model = Allocator()
    first, _, _ = (model.malloc(n * MB) for n in (9, 9, 8))
    model.free(first)
    draw(model.segments)
    assert model.malloc(8 * MB) == first
    draw(model.segments)

    print("Five growing tensors on a device of 100 MiB:")
    try:
        grow(model := Allocator(100 * MB))
    except OutOfMemory as error:
        draw(model.segments)
        print(str(error).split(". GPU")[0])
    else:
        raise AssertionError("a segment for each tensor is more than there is")
    assert model.reserved - model.allocated > 28 * MB, "more lies in fragments than was asked for"
    print("The same with expandable segments:")
    grow(model := Expandable(100 * MB))
    draw(model.segments)

    print("The allocations in two steps of the ten lines:")
    trace = cpu_trace(train)
    model = Allocator()
    sizes = [(model.allocated, model.reserved) for _ in replay(model, trace)]
    peak = sizes.index(max(sizes))
    asked = [entry["size"] for entry in trace if entry["action"] == "alloc"]
    print(f"Each asks for {min(asked)} to {max(asked)} bytes. At the peak of what is allocated:")
    list(replay(model := Allocator(), trace[: peak + 1]))
    draw(model.segments, 2**15)
    print(f"{model.allocated} bytes allocated, {model.reserved} reserved")
    assert sizes[-1] == (0, model.reserved) and len(model.segments) == 1
