"""Write an allocator with a limit, which fails only if it has to."""

from toytorch.memory import ROUND, SEGMENT, CachingAllocator


class LimitedAllocator(CachingAllocator):
    def __init__(self, limit):
        super().__init__()
        self.limit = limit

    def malloc(self, nbytes):
        """As before, but self.reserved never exceeds self.limit.

        Where a new segment would exceed it, this gives free segments back
        with self.empty_cache(), then tries again, then raises MemoryError.
        self.blocks has the blocks of all segments: block.size is a number
        of bytes, block.free is True or False. self.merge() makes one
        block of free neighbors. A request is rounded up to a multiple
        of ROUND, and a new segment has SEGMENT bytes, or those of the
        request if they are more.
        """
        raise NotImplementedError("write malloc")


if __name__ == "__main__":
    allocator = LimitedAllocator(2 * SEGMENT)
    try:
        allocator.malloc(1000)
        print(allocator.reserved)
    except NotImplementedError as missing:
        print("not written yet:", missing)
