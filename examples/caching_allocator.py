"""A model of the caching allocator: it takes segments of device memory, splits and merges blocks, and runs out."""

import re
from pathlib import Path

import torch

HEADER = (Path(torch.__file__).parent / "include/c10/core/AllocatorConfig.h").read_text()
NAMES = "kMinBlockSize", "kSmallSize", "kSmallBuffer", "kMinLargeAlloc", "kRoundLarge", "large_segment_size_"
VALUES = [int(re.search(rf"\b{name}(?: = |{{)(\d+)", HEADER)[1]) for name in NAMES]
MIN_BLOCK, SMALL, SMALL_SEGMENT, LARGE, ROUND_LARGE, LARGE_SEGMENT = VALUES
MB, INFINITE, USED, FREE = 2**20, float("inf"), "active_allocated", "inactive"
OutOfMemory = torch.OutOfMemoryError  # raised here in the words of torch
MESSAGE = "CUDA out of memory. Tried to allocate {} MiB. GPU 0 has a total capacity of {} MiB of which {} MiB is free. "
MESSAGE += "Of the allocated memory {} MiB is allocated by PyTorch, and {} MiB is reserved by PyTorch but unallocated."


class Allocator:
    """Sizes in bytes. `capacity`: the device's memory; `max_split`: blocks of this size and more are not split."""

    def __init__(self, capacity=None, expandable=False, max_split=None):
        self.capacity, self.expandable, self.max_split = capacity or INFINITE, expandable, max_split or INFINITE
        self.segments, self.trace, self.top = [], [], 1 << 36  # in the format of torch.cuda.memory._snapshot()

    allocated = property(lambda self: sum(s["allocated_size"] for s in self.segments))
    reserved = property(lambda self: sum(s["total_size"] for s in self.segments))

    # --8<-- [start:malloc]
    def malloc(self, size, stream=0):
        rounded = max(MIN_BLOCK, -(-size // MIN_BLOCK) * MIN_BLOCK)  # -(-a // b) * b rounds a up
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
        """The smallest free block of the pool that is large enough; of several, the one with the lowest address."""
        limit = self.max_split if size < self.max_split else size + LARGE_SEGMENT
        segments = (s for s in self.segments if pool.items() <= s.items())
        fits = [(s, b) for s in segments for b in s["blocks"] if b["state"] == FREE and size <= b["size"] < limit]
        return min(fits, key=lambda fit: (fit[1]["size"], fit[1]["address"]), default=None)

    # --8<-- [end:malloc]
    def take(self, pool, size, cleared=False):
        """A free block of new memory. Where the device has too little, what is cached goes back first."""
        page = SMALL_SEGMENT if size <= SMALL else LARGE_SEGMENT
        total = more = page if size < LARGE else -(-size // ROUND_LARGE) * ROUND_LARGE
        segment = {"device": 0, **pool, "address": self.top, "total_size": 0, "blocks": []}
        if self.expandable:  # the pool's one segment grows, by what is missing at its end
            segment = next((s for s in self.segments if pool.items() <= s.items()), segment)
            missing = size - sum(b["size"] for b in segment["blocks"][-1:] if b["state"] == FREE)
            more = -(-missing // page) * page
        if self.reserved + more > self.capacity and not cleared:
            self.empty_cache()
            return self.take(pool, size, cleared=True)
        if self.reserved + more > self.capacity:
            sizes = total, self.capacity, self.capacity - self.reserved, self.allocated, self.reserved - self.allocated
            raise OutOfMemory(MESSAGE.format(*(f"{n / MB:.2f}" for n in sizes)))
        end, self.top = segment["address"] + segment["total_size"], self.top + (1 << 40)
        self.segments += [] if segment["blocks"] else [segment]
        segment["blocks"].append({"address": end, "size": more, "state": FREE, "requested_size": 0})
        self.merge(segment["blocks"])
        self.note("segment_map" if self.expandable else "segment_alloc", segment, end, more)
        return segment, segment["blocks"][-1]

    def free(self, address):
        segment = next(s for s in self.segments if s["address"] <= address < s["address"] + s["total_size"])
        block = next(b for b in segment["blocks"] if b["address"] == address and b["state"] == USED)
        size = block["requested_size"]
        block.update(state=FREE, requested_size=0)
        self.merge(segment["blocks"])
        self.note("free_completed", segment, self.note("free_requested", segment, address, size), size)

    def merge(self, blocks):  # neighbors that are free become one block
        for i in range(len(blocks) - 1, 0, -1):
            if blocks[i - 1]["state"] == blocks[i]["state"] == FREE:
                blocks[i - 1]["size"] += blocks.pop(i)["size"]

    def empty_cache(self):
        """Gives back each segment that has no block in use; of an expandable one, the free pages at its end."""
        for segment in list(self.segments):
            last, page = segment["blocks"][-1], SMALL_SEGMENT if segment["segment_type"] == "small" else LARGE_SEGMENT
            back = last["size"] // page * page if self.expandable else last["size"] * (len(segment["blocks"]) == 1)
            if last["state"] == FREE and back:
                last["size"] -= back
                segment["blocks"] = [b for b in segment["blocks"] if b["size"]]
                kind = "segment_unmap" if self.expandable else "segment_free"
                self.note(kind, segment, last["address"] + last["size"], back)
        self.segments = [s for s in self.segments if s["blocks"]]

    def note(self, action, segment, address, size):
        self.trace.append({"action": action, "addr": address, "size": size, "stream": segment["stream"], "frames": []})
        used = sum(b["size"] for b in segment["blocks"] if b["state"] == USED)
        segment.update(total_size=sum(b["size"] for b in segment["blocks"]), allocated_size=used, active_size=used)
        return address

    def replay(self, trace):
        """Makes the calls of a snapshot's trace again. Returns what is allocated and reserved after each entry."""
        at, sizes = {}, []
        for entry in trace:
            if entry["action"] == "alloc":
                at[entry["addr"]] = self.malloc(entry["size"], entry["stream"])
            elif entry["action"] == "free_completed" and entry["addr"] in at:
                self.free(at.pop(entry["addr"]))
            sizes.append((self.allocated, self.reserved))
        return sizes


if __name__ == "__main__":
    model = Allocator()
    first, second, third = (model.malloc(9 * MB) for _ in range(3))
    model.free(first)
    assert model.malloc(8 * MB) == first  # the block of 9 MiB serves it, whole
    assert (model.allocated, model.reserved) == (27 * MB, 40 * MB)
    print(*(entry["action"] for entry in model.trace))
