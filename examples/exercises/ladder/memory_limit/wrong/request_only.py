# says: added the bytes of the request
"""A block that fits costs nothing; a segment is bought, if need be with what the cache gives back."""

from toytorch.memory import ROUND, SEGMENT, CachingAllocator


class LimitedAllocator(CachingAllocator):
    def __init__(self, limit):
        super().__init__()
        self.limit = limit

    def malloc(self, nbytes):
        size = -(-max(nbytes, 1) // ROUND) * ROUND
        self.merge()
        if not any(block.free and block.size >= size for block in self.blocks):
            segment = nbytes
            if self.reserved + segment > self.limit:
                self.empty_cache()
            if self.reserved + segment > self.limit:
                raise MemoryError(f"{segment} bytes are not left")
        return super().malloc(nbytes)
