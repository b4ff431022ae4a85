"""Where storages get their bytes: a caching allocator that counts (c10/cuda/CUDACachingAllocator.cpp)."""

import numpy as np

ROUND, SEGMENT = 512, 2**21  # a block has a multiple of 512 bytes; a segment 2 MiB, or what a larger block needs


class CachingAllocator:
    def __init__(self):
        self.segments = []  # (memory, its blocks in order); a block is [start, size, is free]
        self.allocated = self.reserved = self.peak = 0

    # --8<-- [start:malloc]
    def malloc(self, nbytes):
        """The smallest free block that fits, cut to size; a new segment if there is none. Returns (memory, block)."""
        size = -(-max(nbytes, 1) // ROUND) * ROUND
        for _, blocks in self.segments:
            self.merge(blocks)
        fits = [(b[1], i, b) for i, (_, blocks) in enumerate(self.segments) for b in blocks if b[2] and b[1] >= size]
        if not fits:
            block = [0, max(size, SEGMENT), True]
            fits = [(block[1], len(self.segments), block)]
            self.segments.append((np.empty(block[1], np.uint8), [block]))
            self.reserved += block[1]
        total, number, block = min(fits)
        memory, blocks = self.segments[number]
        if total > size:
            blocks.insert(blocks.index(block) + 1, [block[0] + size, total - size, True])
        block[1:] = size, False
        self.allocated += size
        self.peak = max(self.peak, self.allocated)
        return memory, block
        # --8<-- [end:malloc]

    def free(self, block):
        """The segment stays reserved. (Python may call this in the middle of malloc, so neighbors become one there.)"""
        block[2] = True
        self.allocated -= block[1]

    def merge(self, blocks):
        for i in range(len(blocks) - 1, 0, -1):
            if blocks[i - 1][2] and blocks[i][2]:
                blocks[i - 1][1] += blocks.pop(i)[1]

    def empty_cache(self):
        self.segments = [(memory, blocks) for memory, blocks in self.segments if not all(block[2] for block in blocks)]
        self.reserved = sum(len(memory) for memory, _ in self.segments)


allocator = CachingAllocator()


class UntypedStorage:
    """Bytes from the allocator, which takes them back when the last tensor on them is gone. On meta there are none."""

    block = None

    def __init__(self, nbytes, device="cpu"):
        self.device = device
        if device == "cpu":
            self.memory, self.block = allocator.malloc(nbytes)

    def data_ptr(self):
        return self.memory.ctypes.data + self.block[0] if self.block else 0

    def __del__(self):
        if self.block:
            allocator.free(self.block)
