"""Refused memory, by its reason: enough is there but in pieces, or too little is there, with both kinds of segments."""

import gzip
import json
import random
from pathlib import Path

from caching_allocator import LARGE, LARGE_SEGMENT, MB, ROUND_LARGE, Allocator, OutOfMemory, up
from expandable_segments import Expandable

REASONS = "refused in pieces", "refused for want of memory"
ALLOWED, PROGRAMS = 400 * MB, 10


def reason(size, used):
    """Of a refusal: whether what is not in use would have been enough for the segment that PyTorch wants."""
    segment = LARGE_SEGMENT if size < LARGE else up(size, ROUND_LARGE)
    return REASONS[ALLOWED - used < segment]


def batches(model, seed):
    """The reasons in a hundred batches of different lengths, with six tensors each that are freed together."""
    draw = random.Random(seed)
    for _ in range(100):
        length, live = draw.randint(5, 40), []
        for _ in range(6):
            size = length * draw.randint(1, 2) * MB
            try:
                live.append(model.malloc(size))
            except OutOfMemory:
                yield reason(size, model.allocated)
        for address in live:
            model.free(address)


def recorded(trace):
    """The reasons in a trace of a GPU."""
    live = {}
    for entry in trace:
        if entry["action"] == "alloc":
            live[entry["addr"]] = entry["size"]
        elif entry["action"] == "free_completed":
            live.pop(entry["addr"], None)  # a block may be older than the trace
        elif entry["action"] == "oom":
            yield reason(entry["size"], sum(live.values()))


def counts():
    """For each workload and setting how often which reason came up."""
    with gzip.open(Path(__file__).parent / "recordings/allocator.json.gz") as file:
        recording = json.load(file)
    found, seeds = {}, range(PROGRAMS)
    for value, model in (("False", Allocator), ("True", Expandable)):
        found[f"batches, {value}"] = [one for seed in seeds for one in batches(model(ALLOWED), seed)]
    for value in ("False", "True"):
        runs = [recording[f"expandable_segments:{value}, seed {seed}"] for seed in seeds]
        found[f"at random, {value}"] = [one for run in runs for one in recorded(run["device_traces"][0])]
    return {name: {kind: reasons.count(kind) for kind in REASONS} for name, reasons in found.items()}


if __name__ == "__main__":
    found = counts()
    for name, by_reason in found.items():
        print(f"{name:16}", ", ".join(f"{count:2} {kind}" for kind, count in by_reason.items()))
    assert found["batches, True"][REASONS[0]] == 0
