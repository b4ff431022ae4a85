# says: although a free block fits
"""Asks for a segment each time."""

from toytorch.memory import ROUND, SEGMENT, CachingAllocator


class LimitedAllocator(CachingAllocator):
    def __init__(self, limit):
        super().__init__()
        self.limit = limit

    def malloc(self, nbytes):
        segment = max(-(-max(nbytes, 1) // ROUND) * ROUND, SEGMENT)
        if self.reserved + segment > self.limit:
            self.empty_cache()
        if self.reserved + segment > self.limit:
            raise MemoryError(f"{segment} bytes are not left")
        return super().malloc(nbytes)
