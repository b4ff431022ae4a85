"""A tensor is a flat list and three facts: sizes, strides, offset."""

import itertools
import math
import random
from contextlib import suppress

import torch


def row_major(sizes):
    return [math.prod(sizes[d + 1 :]) for d in range(len(sizes))]


class Strided:
    def __init__(self, storage, sizes, strides, offset=0):
        self.storage, self.offset = storage, offset
        self.sizes, self.strides = tuple(sizes), tuple(strides)

    def elements(self):
        for index in itertools.product(*map(range, self.sizes)):
            steps = map(math.prod, zip(index, self.strides))
            yield self.storage[self.offset + sum(steps)]

    # --8<-- [start:slice]
    def as_strided(self, sizes, strides, offset):
        return Strided(self.storage, sizes, strides, offset)

    def __getitem__(self, key):
        sizes, strides, offset = [], [], self.offset
        for k, size, stride in zip(key, self.sizes, self.strides, strict=True):
            kept = range(size)[k]
            offset += stride * (kept if isinstance(k, int) else kept.start)
            if isinstance(k, slice):
                sizes.append(len(kept))
                strides.append(kept.step * stride)
        return self.as_strided(sizes, strides, offset)

    # --8<-- [end:slice]
    def transpose(self, a, b):
        dims = list(zip(self.sizes, self.strides))
        dims[a], dims[b] = dims[b], dims[a]
        return self.as_strided(*zip(*dims), self.offset)

    def expand(self, *shape):
        dims = list(zip(self.sizes, shape, self.strides, strict=True))
        assert all(old in (1, new) for old, new, _ in dims), shape
        strides = [step if old == new else 0 for old, new, step in dims]
        return self.as_strided(shape, strides, self.offset)

    def groups(self):
        merged = []
        for size, stride in zip(self.sizes, self.strides):
            if size > 1 and merged and merged[-1][1] == size * stride:
                merged[-1] = [merged[-1][0] * size, stride]
            elif size > 1:
                merged.append([size, stride])
        return merged if 0 not in self.sizes else []

    def view(self, *shape):
        if math.prod(shape) != math.prod(self.sizes):
            raise ValueError(f"{shape} has another number of elements")
        strides, d = row_major(shape), len(shape)
        for count, step in reversed(self.groups()):
            walked = 1
            while walked < count:
                d -= 1
                strides[d] = walked * step
                walked *= shape[d]
            if walked > count:
                raise ValueError(f"dimension {d} would span two groups")
        return self.as_strided(shape, strides, self.offset)

    def is_contiguous(self):
        return self.groups() in ([], [[math.prod(self.sizes), 1]])

    def contiguous(self):
        return self if self.is_contiguous() else Strided(list(self.elements()), self.sizes, row_major(self.sizes))


def check(mine, theirs):
    assert list(mine.elements()) == theirs.flatten().tolist()
    assert (mine.sizes, mine.offset) == (theirs.shape, theirs.storage_offset())
    assert mine.is_contiguous() == theirs.is_contiguous()
    for n, a, b in zip(mine.sizes, mine.strides, theirs.stride()):
        assert a == b or n == 1 or theirs.numel() == 0


def attempt(view, shape):
    with suppress(ValueError, RuntimeError):
        return view(*shape)


random.seed(0)
granted = []
for _ in range(500):
    sizes = random.choices((0, 1, 2, 3, 4), (1, 5, 5, 5, 5), k=3)
    strides = [s * random.choice((1, 1, 1, 2, 0)) for s in row_major(sizes)]
    random.shuffle(strides)
    mine = Strided(range(200), [200], [1]).as_strided(sizes, strides, 7)
    theirs = torch.arange(200).as_strided(sizes, strides, 7)
    check(mine, theirs)
    check(mine.contiguous(), theirs.contiguous())
    check(mine.transpose(0, 2), theirs.transpose(0, 2))
    check(mine[:, 1:, ::2], theirs[:, 1:, ::2])
    if mine.sizes[0]:
        check(mine[-1, :, :1], theirs[-1, :, :1])
    grown = [3 if size == 1 else size for size in mine.sizes]
    check(mine.expand(*grown), theirs.expand(grown))
    for shape in itertools.product(range(9), repeat=3):
        if math.prod(shape) == math.prod(mine.sizes):
            a, b = attempt(mine.view, shape), attempt(theirs.view, shape)
            assert (a is None) == (b is None), (mine.strides, shape)
            granted.append(a is not None)
            if granted[-1]:
                check(a, b)
print(f"500 layouts, {sum(granted)} of {len(granted)} views granted, as in torch")
