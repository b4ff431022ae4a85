"""Where storages get their bytes: a caching allocator that counts (c10/cuda/CUDACachingAllocator.cpp)."""

import numpy as np

ROUND, SEGMENT = 512, 2**21  # a block has a multiple of 512 bytes; a segment 2 MiB, or what a larger block needs


class CachingAllocator:
    def __init__(self):
        self.segments = []  # (memory, its blocks in order); a block is [start, size, is free]
        self.freed, self.busy = [], False
        self.allocated = self.reserved = self.peak = 0

    def malloc(self, nbytes):
        """The smallest free block that fits, cut to size; a new segment if there is none. Returns (memory, block)."""
        self.busy, size = True, -(-max(nbytes, 1) // ROUND) * ROUND
        fits = [(b[1], i, b[0]) for i, (_, blocks) in enumerate(self.segments) for b in blocks if b[2] and b[1] >= size]
        if not fits:
            fits = [(max(size, SEGMENT), len(self.segments), 0)]
            self.segments.append((np.empty(fits[0][0], np.uint8), [[0, fits[0][0], True]]))
            self.reserved += fits[0][0]
        total, number, start = min(fits)
        memory, blocks = self.segments[number]
        at = blocks.index([start, total, True])
        blocks[at : at + 1] = [[start, size, False], [start + size, total - size, True]][: 1 + (total > size)]
        self.allocated += size
        self.peak, block = max(self.peak, self.allocated), blocks[at]
        self.process_freed()
        return memory, block

    def free(self, memory, block):
        """Python may call this at any time, so a block waits while the allocator is busy."""
        self.freed.append((memory, block))
        if not self.busy:
            self.process_freed()

    def process_freed(self):
        """A freed block becomes one with its free neighbors. Its segment stays reserved."""
        self.busy = True
        while self.freed:
            memory, block = self.freed.pop()
            self.allocated, block[2] = self.allocated - block[1], True
            blocks = next(blocks for one, blocks in self.segments if one is memory)
            for i in range(len(blocks) - 1, 0, -1):
                if blocks[i - 1][2] and blocks[i][2]:
                    blocks[i - 1][1] += blocks.pop(i)[1]
        self.busy = False

    def empty_cache(self):
        self.segments = [(memory, blocks) for memory, blocks in self.segments if blocks != [[0, len(memory), True]]]
        self.reserved = sum(len(memory) for memory, _ in self.segments)


allocator = CachingAllocator()
