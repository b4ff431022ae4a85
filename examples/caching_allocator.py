"""A model of the caching allocator: it takes segments of device memory, splits and merges blocks, and runs out."""

import re
from pathlib import Path

import torch

HEADER = (Path(torch.__file__).parent / "include/c10/core/AllocatorConfig.h").read_text()
NAMES = "kMinBlockSize", "kSmallSize", "kSmallBuffer", "kMinLargeAlloc", "kRoundLarge", "large_segment_size_"
VALUES = [int(re.search(rf"\b{name}(?: = |{{)(\d+)", HEADER)[1]) for name in NAMES]
MIN_BLOCK, SMALL, SMALL_SEGMENT, LARGE, ROUND_LARGE, LARGE_SEGMENT = VALUES
MB, INFINITE, USED, FREE = 2**20, float("inf"), "active_allocated", "inactive"
PAGES = {"small": SMALL_SEGMENT, "large": LARGE_SEGMENT}
OutOfMemory = torch.OutOfMemoryError  # raised here in the words of torch
MESSAGE = "CUDA out of memory. Tried to allocate {} MiB. GPU 0 has a total capacity of {} MiB of which {} MiB is free. "
MESSAGE += "Of the allocated memory {} MiB is allocated by PyTorch, and {} MiB is reserved by PyTorch but unallocated."


def up(size, unit):
    return -(-size // unit) * unit


def end(block):
    return block["address"] + block["size"]


class Allocator:
    """Sizes in bytes: `capacity` of the device, `allowed` to the process; from `max_split` on a block is not split."""

    expandable = False  # whether segments are, as in expandable_segments.py

    def __init__(self, capacity=None, max_split=None, allowed=None):
        self.capacity, self.allowed, self.max_split = capacity or INFINITE, allowed or INFINITE, max_split or INFINITE
        self.segments, self.trace, self.top = [], [], 1 << 36  # in the format of torch.cuda.memory._snapshot()

    allocated = property(lambda self: sum(s["allocated_size"] for s in self.segments))
    reserved = property(lambda self: sum(s["total_size"] for s in self.segments))

    # --8<-- [start:malloc]
    def malloc(self, size, stream=0):
        rounded = max(MIN_BLOCK, up(size, MIN_BLOCK))  # to a multiple of MIN_BLOCK
        pool = {"stream": stream, "segment_type": "small" if rounded <= SMALL else "large"}
        segment, block = self.best_fit(pool, rounded) or self.take(pool, rounded)
        rest = block["size"] - rounded
        if rest >= MIN_BLOCK if self.expandable or rounded <= SMALL else rest > SMALL and rounded < self.max_split:
            after = dict(block, address=block["address"] + rounded, size=rest)
            segment["blocks"].insert(segment["blocks"].index(block) + 1, after)
            block["size"] = rounded
        block.update(state=USED, requested_size=size)
        return self.note("alloc", segment, block["address"], size)

    def best_fit(self, pool, size):
        """The smallest free block of the pool that is large enough; of several, the one in the oldest segment."""
        limit = self.max_split if size < self.max_split else size + LARGE_SEGMENT
        segments = (s for s in self.segments if pool.items() <= s.items())
        fits = [(s, b) for s in segments for b in s["blocks"] if b["state"] == FREE and size <= b["size"] < limit]
        fits.sort(key=lambda fit: fit[1]["size"])  # the order of equal ones, by segment and address, stays
        while fits[1:] and self.room(*fits[1]) < self.room(*fits[0]):
            fits.pop(0)  # it can grow to more than the next one, so it is spared
        return fits[0] if fits else None

    # --8<-- [end:malloc]
    def room(self, segment, block):
        return block["size"]

    def take(self, pool, size, cleared=False):
        """A free block of new memory. Where there is too little, what is cached goes back first."""
        total = PAGES[pool["segment_type"]] if size < LARGE else up(size, ROUND_LARGE)
        segment, at, pages = self.missing(pool, size, total)
        if self.reserved + sum(n for _, n in pages) > self.capacity or self.reserved + total > self.allowed:
            if not cleared:
                return self.empty_cache() or self.take(pool, size, cleared=True)
            sizes = total, self.capacity, self.capacity - self.reserved, self.allocated, self.reserved - self.allocated
            raise OutOfMemory(MESSAGE.format(*(f"{n / MB:.2f}" for n in sizes)))
        self.top += 1 << 40
        self.segments += [] if segment["blocks"] else [segment]
        for address, size in pages:
            segment["blocks"].append({"address": address, "size": size, "state": FREE, "requested_size": 0})
            self.merge(segment["blocks"])
            self.note("segment_map" if self.expandable else "segment_alloc", segment, address, size)
        return segment, next(b for b in segment["blocks"] if b["address"] == at)

    def missing(self, pool, size, total):
        """The segment of a new block, the address of the block, and the memory that it needs: (address, bytes)."""
        return {"device": 0, **pool, "address": self.top, "total_size": 0, "blocks": []}, self.top, [(self.top, total)]

    def free(self, address):
        used = ((s, b) for s in self.segments for b in s["blocks"] if b["state"] == USED)
        segment, block = next((s, b) for s, b in used if b["address"] == address)
        size = block["requested_size"]
        block.update(state=FREE, requested_size=0)
        self.merge(segment["blocks"])
        self.note("free_completed", segment, self.note("free_requested", segment, address, size), size)

    def merge(self, blocks):  # neighbors that are free become one block
        blocks.sort(key=lambda b: b["address"])
        for i in range(len(blocks) - 1, 0, -1):
            if blocks[i - 1]["state"] == blocks[i]["state"] == FREE and end(blocks[i - 1]) == blocks[i]["address"]:
                blocks[i - 1]["size"] += blocks.pop(i)["size"]

    def empty_cache(self):
        """Gives back each segment that has no block in use."""
        for segment in self.segments:
            if [block["state"] for block in segment["blocks"]] == [FREE]:
                block = segment["blocks"].pop()
                self.note("segment_free", segment, block["address"], block["size"])
        self.segments = [s for s in self.segments if s["blocks"]]

    def note(self, action, segment, address, size):
        self.trace.append({"action": action, "addr": address, "size": size, "stream": segment["stream"], "frames": []})
        used = sum(b["size"] for b in segment["blocks"] if b["state"] == USED)
        segment.update(total_size=sum(b["size"] for b in segment["blocks"]), allocated_size=used, active_size=used)
        return address


if __name__ == "__main__":
    model = Allocator()
    first, _, _ = (model.malloc(9 * MB) for _ in range(3))
    assert (model.free(first), model.malloc(8 * MB), model.allocated) == (None, first, 27 * MB)  # 8 take the 9, whole
    print(*(entry["action"] for entry in model.trace))
