"""Fragmentation in a toy whose memory is text: it refuses the requests that a model of the allocator refuses."""

import random
import re

from caching_allocator import MB, Allocator, OutOfMemory
from expandable_segments import Expandable


# --8<-- [start:toy]
class Toy(list):
    """One string a segment, one character a MiB: a letter is a tensor, a dot is free."""

    def __init__(self, capacity):
        super().__init__()
        self.capacity = capacity

    def malloc(self, name, size):
        holes = [
            (len(hole[0]), at, hole.start())
            for at, text in enumerate(self)
            for hole in re.finditer(rf"\.{{{size},}}", text)
        ]
        segment = 20 if size < 10 else size + size % 2
        have, at, start = min(holes) if holes else self.take(segment)
        size = have if have - size < 2 else size
        self[at] = self[at][:start] + name * size + self[at][start + size :]

    def take(self, size):
        if self.reserved() + size > self.capacity:
            self.empty_cache()
        if self.reserved() + size > self.capacity:
            raise MemoryError(f"no room for {size} MiB")
        self.append("." * size)
        return size, len(self) - 1, 0

    def free(self, name):
        self[:] = [segment.replace(name, ".") for segment in self]

    def empty_cache(self):
        self[:] = [segment for segment in self if segment.strip(".")]

    def reserved(self):
        return len("".join(self))

    # --8<-- [end:toy]


class Named:
    """Makes of a model of the caching allocator one that counts in MiB, with names instead of addresses."""

    def __init__(self, capacity):
        super().__init__(capacity * MB)
        self.at = {}

    def malloc(self, name, size):
        self.at[name] = super().malloc(size * MB)

    def free(self, name):
        super().free(self.at.pop(name))


class Model(Named, Allocator):
    pass


class InPages(Named, Expandable):
    pass


# --8<-- [start:compare]
def refused(memory, calls):
    """Makes the calls (name, size); the second one of a name frees it. Returns what was refused."""
    live, names = set(), []
    for name, size in calls:
        try:
            if name in live:
                live.remove(name)
                memory.free(name)
            elif name not in names:
                memory.malloc(name, size)
                live.add(name)
        except (MemoryError, OutOfMemory):
            names.append(name)
    return names


def random_calls(seed):
    draw, live = random.Random(seed), []
    for step in range(100):
        if live and draw.random() < 0.4:
            yield live.pop(draw.randrange(len(live)))
        else:
            live.append((chr(0x4E00 + step), draw.randint(2, 40)))
            yield live[-1]


# --8<-- [end:compare]
if __name__ == "__main__":
    requests, in_toy, in_segments, in_pages, gains = [], [], [], [], []
    for seed in range(100):
        calls, toy, model = list(random_calls(seed)), Toy(400), Model(400)
        requests += set(calls)
        in_toy += refused(toy, calls)
        in_segments += (segments := refused(model, calls))
        in_pages += (pages := refused(InPages(400), calls))
        gains.append(len(segments) - len(pages))
        assert in_toy == in_segments
        assert toy.reserved() * MB == model.reserved
        assert (toy.reserved() - "".join(toy).count(".")) * MB == model.allocated
    print(len(requests), "requests;", len(in_toy), "refused by the toy, the same by the model")
    print(len(in_pages), "refused by the model with expandable segments:", end=" ")
    print("fewer in", sum(gain > 0 for gain in gains), "sequences, more in", sum(gain < 0 for gain in gains))
