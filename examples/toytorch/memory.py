"""Where storages get their bytes: a caching allocator that counts (c10/cuda/CUDACachingAllocator.cpp)."""

import weakref

import numpy as np

ROUND, SEGMENT = 512, 2**21  # a block has a multiple of 512 bytes; a segment 2 MiB, or what a larger block needs


class Block:  # bytes of a segment: `size` of its memory, from `start` on
    def __init__(self, memory, start, size):
        self.memory, self.start, self.size, self.free = memory, start, size, True


class CachingAllocator:
    def __init__(self):
        self.blocks = []  # of all segments, one segment after the other
        self.allocated = self.reserved = self.peak = 0

    def malloc(self, nbytes):
        """The smallest free block that fits, cut to size; a new segment if there is none."""
        size = -(-max(nbytes, 1) // ROUND) * ROUND  # rounded up
        self.merge()
        fits = [block for block in self.blocks if block.free and block.size >= size]
        if not fits:
            memory = np.empty(max(size, SEGMENT), np.uint8)
            fits = [Block(memory, 0, len(memory))]
            self.blocks += fits
            self.reserved += len(memory)
        block = min(fits, key=lambda block: block.size)
        if block.size > size:
            rest = Block(block.memory, block.start + size, block.size - size)
            self.blocks.insert(self.blocks.index(block) + 1, rest)
        block.size, block.free = size, False
        self.allocated += size
        self.peak = max(self.peak, self.allocated)
        return block

    def free(self, block):
        """The segment stays reserved. Neighbors merge in malloc, as garbage collection may call this inside of it."""
        block.free = True
        self.allocated -= block.size

    def merge(self):  # makes one block of free neighbors in a segment; from the back, where the left one may grow on
        for left, right in reversed([*zip(self.blocks, self.blocks[1:])]):
            if left.free and right.free and left.memory is right.memory:
                left.size += right.size
                self.blocks.remove(right)

    def empty_cache(self):  # gives segments back that are one free block
        self.merge()
        self.blocks = [block for block in self.blocks if not block.free or block.size < len(block.memory)]
        self.reserved = sum(block.size for block in self.blocks)


allocator = CachingAllocator()


class UntypedStorage:
    """Bytes from the allocator, which takes them back when the last tensor on them is gone. On meta there are none."""

    def __init__(self, nbytes, device="cpu"):
        self.device, self.block = device, None
        if device == "cpu":
            self.block = allocator.malloc(nbytes)
            weakref.finalize(self, allocator.free, self.block)

    def data_ptr(self):
        return self.block.memory.ctypes.data + self.block.start if self.block else 0
