# says: counted allocated bytes
"""What is in use decides."""

from toytorch.memory import ROUND, SEGMENT, CachingAllocator


class LimitedAllocator(CachingAllocator):
    def __init__(self, limit):
        super().__init__()
        self.limit = limit

    def malloc(self, nbytes):
        size = -(-max(nbytes, 1) // ROUND) * ROUND
        self.merge()
        if not any(block.free and block.size >= size for block in self.blocks):
            segment = max(size, SEGMENT)
            if self.allocated + segment > self.limit:
                self.empty_cache()
            if self.allocated + segment > self.limit:
                raise MemoryError(f"{segment} bytes are not left")
        return super().malloc(nbytes)
