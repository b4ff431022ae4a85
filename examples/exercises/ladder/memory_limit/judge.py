"""Compare what is reserved, and where memory runs out, with an allocator that looks ahead, on random requests."""

import random

from check import compare
from ladder.rungs import toytorch

memory = toytorch.memory
UNIT = memory.SEGMENT  # requests and limits below are multiples of it
HALF, ROUND = UNIT // 2, memory.ROUND


def scripts():
    """A limit, and requests: bytes to get, or -i to give back what the request i got."""
    yield 2 * UNIT, (1000, 1000)
    yield 2 * UNIT, (UNIT, UNIT)
    yield 2 * UNIT, (UNIT, UNIT, 1)
    yield 2 * UNIT, (UNIT, -1, 2 * UNIT)
    yield 2 * UNIT, (UNIT, -1, UNIT, HALF, 3 * UNIT)
    yield 2 * UNIT, (HALF, HALF, UNIT, -1, HALF, HALF)
    yield 3 * UNIT, (2 * UNIT, HALF, -1, UNIT, UNIT)
    yield 3 * UNIT, (UNIT, UNIT, -1, UNIT + 1)
    yield 3 * UNIT + ROUND, (2 * UNIT - 1, UNIT + 1, -2, HALF)
    draw = random.Random(0)
    for _ in range(60):
        script, live = [], []
        for i in range(1, 9):
            if live and draw.random() < 0.4:
                script.append(-live.pop(draw.randrange(len(live))))
            else:
                script.append(draw.choice((1, HALF, UNIT, UNIT + 1, 2 * UNIT)))
                live.append(i)
        yield draw.choice((2, 3, 4)) * UNIT, tuple(script)


def run(Allocator):  # noqa: N803
    """For each request the bytes reserved after it, or the word that it failed."""

    def run(limit, script):
        allocator, got, said = Allocator(limit), {}, []
        for i, request in enumerate(script, 1):
            try:
                if request > 0:
                    got[i] = allocator.malloc(request)
                elif -request in got:
                    allocator.free(got.pop(-request))
                said.append(allocator.reserved / UNIT)
            except MemoryError:
                said.append("MemoryError")
        return tuple(said)

    return run


def rival(empties=True, always=False, counts="reserved", at_once=False, strict=False, rounded=True):
    class Rival(memory.CachingAllocator):
        def __init__(self, limit):
            super().__init__()
            self.limit = limit

        def malloc(self, nbytes):
            size = -(-max(nbytes, 1) // ROUND) * ROUND
            self.merge()
            if always:
                self.empty_cache()
            if at_once or not any(block.free and block.size >= size for block in self.blocks):
                segment = max(size, UNIT) if rounded else nbytes
                if self.over(segment) and empties:
                    self.empty_cache()
                if self.over(segment):
                    raise MemoryError
            return super().malloc(nbytes)

        def over(self, segment):
            total = getattr(self, counts) + segment
            return total >= self.limit if strict else total > self.limit

    return run(Rival)


IDEAS = {
    "You may have failed without giving the cache back. Free segments are reserved, but nobody uses them: empty_cache "
    "makes room, and then it may fit.": rival(empties=False),
    "You may have given the cache back before each request. A free block that fits needs no new segment, and that is "
    "what the cache is for.": rival(always=True),
    "You may have counted allocated bytes. The limit is for what is reserved, in use or not.": rival(
        counts="allocated"
    ),
    "You may have asked for room for a new segment although a free block fits. Such a request costs nothing.": rival(
        at_once=True
    ),
    "You may have stopped one request early. The limit itself may be reached.": rival(strict=True),
    "You may have added the bytes of the request. A new segment has SEGMENT bytes at least, and a request is rounded "
    "up.": rival(rounded=False),
}


def check(work):
    otherwise = (
        "The first number is the limit in bytes. Then come requests in bytes, and -1 gives back what the first request "
        "got. Compared is what is reserved after each of them, in segments."
    )
    compare("reserved", scripts(), run(work.LimitedAllocator), rival(), IDEAS, otherwise)
