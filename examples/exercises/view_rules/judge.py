"""Compare view(sizes, strides, shape) with torch, on random layouts and every way to shape them."""

import itertools
import math
import random

import torch
from check import compare

PLAIN = True
REFUSED = "refused with a ValueError"


def counted(sizes, strides):
    """A result without the strides that do not count."""
    return sizes, tuple(stride if size > 1 and 0 not in sizes else "any" for size, stride in zip(sizes, strides))


def answered(view):
    """`view` with its refusals as a sentence."""

    def answer(*case):
        try:
            sizes, strides = view(*case)
        except ValueError:
            return REFUSED
        return counted(sizes, strides)

    return answer


def torchs(sizes, strides, shape):
    try:
        x = torch.empty(400, device="meta").as_strided(sizes, strides).view(shape)
    except RuntimeError:
        return REFUSED
    return counted(tuple(x.shape), x.stride())


def row_major(sizes, step=1):
    return [step * math.prod(sizes[d + 1 :]) for d in range(len(sizes))]


def inferred(shape, count):
    """The shape with its -1 replaced, or None."""
    known = math.prod(size for size in shape if size != -1)
    if -1 in shape and (shape.count(-1) > 1 or not known or count % known):
        return None
    shape = tuple(count // known if size == -1 else size for size in shape)
    return shape if math.prod(shape) == count else None


def joined(sizes, strides, ones=False, joins=True):
    runs = []
    for size, stride in zip(sizes, strides):
        if size == 1 and not ones:
            continue
        if joins and runs and runs[-1][1] == size * stride:
            runs[-1] = (runs[-1][0] * size, stride)
        else:
            runs.append((size, stride))
    return runs


def rule(runs=joined, borders=True, unless=lambda sizes, strides: False):
    """A rule for view, wrong in what is given."""

    def view(sizes, strides, shape):
        shape = inferred(shape, math.prod(sizes))
        if shape is None or unless(sizes, strides):
            return REFUSED
        if 0 in sizes:
            return counted(shape, row_major(shape))
        rest, result = list(runs(sizes, strides)), []
        left, step = 1, 1
        for size in reversed(shape):
            while left == 1 and size > 1 and rest:
                left, step = rest.pop()
            if left % size and borders:
                return REFUSED
            result.insert(0, step)
            left, step = max(left // size, 1), step * size
        return counted(shape, result)

    return view


def scattered(sizes, strides):
    return joined(sizes, strides) not in ([], [(math.prod(sizes), 1)]) and 0 not in sizes


IDEAS = {
    "You may have thought that view needs a contiguous tensor. Your function allows a view exactly where x is "
    "contiguous. view needs less: x may have gaps, as long as one stride walks each new dimension.": rule(
        unless=scattered
    ),
    "You may have compared the number of elements only, and returned the strides of a new tensor. But a view shares "
    "the memory of x, so its strides follow from those of x.": rule(lambda n, s: [(math.prod(n), 1)]),
    "You may have thought that one stride leads through all of x. Your answer has the strides of a new tensor, "
    "multiplied by the last stride of x. Look for an outer dimension whose step does not lead to where one more "
    "inner step would.": rule(lambda n, s: [(math.prod(n), (1, *s)[-1])]),
    "You may have used the stride of a dimension of size 1. A dimension of size 1 has kept its neighbors apart. "
    "Nothing ever steps along such a dimension, so torch ignores its stride.": rule(
        lambda n, s: joined(n, s, ones=True)
    ),
    "You may have thought that view only splits dimensions. Your function never joins two. Where the outer stride "
    "is the inner size times the inner stride, one stride walks both dimensions.": rule(
        lambda n, s: joined(n, s, joins=False)
    ),
    "You may have thought that a tensor without elements cannot be viewed. One without elements was refused, but it "
    "has no element that a stride could miss. So any shape of 0 elements is right.": rule(
        unless=lambda sizes, _: 0 in sizes
    ),
    "You may have thought that a repeated dimension cannot be viewed. A stride of 0 was refused, but a dimension "
    "with stride 0 can be split like any other, and two of them can be joined.": rule(
        unless=lambda sizes, strides: 0 not in sizes and any(n > 1 and s == 0 for n, s in zip(sizes, strides))
    ),
    "You may have gone on where a run ended (a run is a group of dimensions that one stride walks). A new dimension "
    "has gone over the border between two runs of x. Such a dimension would need one stride inside a run and "
    "another at the border.": rule(borders=False),
}


def layouts(draw):
    yield (3, 4), (4, 1)
    yield (3, 2), (4, 2)
    yield (4, 3), (1, 4)
    yield (2, 0, 3), (3, 3, 1)
    yield (), ()
    yield (2, 1, 3), (3, 7, 1)
    for _ in range(60):
        sizes = draw.choices((0, 1, 2, 3, 4), (1, 4, 5, 5, 5), k=draw.randint(1, 3))
        strides = [step * draw.choice((1, 1, 1, 2, 0)) for step in row_major([max(size, 1) for size in sizes])]
        if draw.random() < 0.4:
            draw.shuffle(strides)
        yield tuple(sizes), tuple(strides)


def shapes(draw, count):
    """Shapes that fit, shapes with a -1, and some that do not fit."""
    if count == 1:
        yield ()
    for length in (1, 2, 3):
        sizes = sorted({n for n in range(1, count + 1) if count % n == 0} | {0 if count == 0 else 1})
        fitting = [shape for shape in itertools.product(sizes, repeat=length) if math.prod(shape) == count]
        for shape in draw.sample(fitting, min(4, len(fitting))):
            yield shape
            hole = draw.randrange(length)
            yield (*shape[:hole], -1, *shape[hole + 1 :])
    yield from ((5, -1), (-1, 7), (-1, -1), (count + 1,), (0, -1))


def check(work):
    draw = random.Random(0)
    cases = [(*x, shape) for x in layouts(draw) for shape in shapes(draw, math.prod(x[0]))]
    otherwise = (
        "Join neighboring dimensions of x where the outer stride is the inner size times the inner stride, and leave "
        "out those of size 1. Then a new dimension has to lie within one of these runs."
    )
    compare("view", cases, answered(work.view), torchs, IDEAS, otherwise)
