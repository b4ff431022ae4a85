"""Compare four functions over (sizes, strides, offset) with the tensors of torch, on random layouts."""

import math
import random

import torch
from check import compare

PLAIN = True


def metadata(x):
    return tuple(x.shape), x.stride(), x.storage_offset()


def tensor(given):
    return torch.empty(2000).as_strided(*given)


def layout(draw, sizes=(1, 2, 3, 4, 5)):
    """A tensor as torch's own operations leave it: dimensions in any order, a later start, some steps doubled."""
    shape = draw.choices(sizes, k=draw.randint(2, 3))
    strides = [math.prod(shape[d + 1 :]) * draw.choice((1, 1, 2)) for d in range(len(shape))]
    order = draw.sample(range(len(shape)), len(shape))
    return tuple(shape[d] for d in order), tuple(strides[d] for d in order), draw.randint(0, 9)


def row_major(sizes, step=1, least=1):
    return tuple(step * math.prod(max(size, least) for size in sizes[d + 1 :]) for d in range(len(sizes)))


def swapped(values, a, b):
    values = list(values)
    values[a], values[b] = values[b], values[a]
    return values


def changed(values, dim, value):
    return [*values[:dim], value, *values[dim + 1 :]]


FRESH = {
    "You may have thought that the first dimension has the shortest step. torch stores row by row: the last "
    "dimension has stride 1. The stride of any other dimension is the next dimension's stride times the next "
    "dimension's size.": lambda sizes: (
        sizes,
        row_major(sizes[::-1])[::-1],
        0,
    ),
    "You may have computed strides in bytes, as NumPy counts them. torch counts elements, so the dtype plays no "
    "part.": lambda sizes: (sizes, row_major(sizes, 4), 0),
    "You may have multiplied by a size of 0. A size of 0 has made strides 0 in your answer. torch counts a size of "
    "0 as 1 when it computes strides, so they stay positive.": lambda sizes: (
        sizes,
        row_major(sizes, least=0),
        0,
    ),
    "You may have multiplied by the dimension's own size as well. A step along a dimension passes over all elements "
    "of the later dimensions. Its own size plays no part.": lambda sizes: (
        sizes,
        tuple(math.prod(max(size, 1) for size in sizes[d:]) for d in range(len(sizes))),
        0,
    ),
}
TRANSPOSE = {
    "You may have exchanged the sizes alone. In your answer the sizes changed places and the strides did not, so "
    "each size is paired with the stride of another dimension. Size and stride belong to the dimension and move "
    "together.": lambda x, a, b: (
        swapped(x[0], a, b),
        x[1],
        x[2],
    ),
    "You may have computed the strides that a copy would have. But a transpose leaves each element where it is, so "
    "it has the old strides in another order.": lambda x, a, b: (
        swapped(x[0], a, b),
        row_major(swapped(x[0], a, b)),
        x[2],
    ),
    "You may have reversed the order of all dimensions. transpose exchanges only two of them.": lambda x, a, b: (
        x[0][::-1],
        x[1][::-1],
        x[2],
    ),
    "You may have thought that every transpose has the offset 0. The transpose of a slice starts where the slice "
    "starts.": lambda x, a, b: (
        swapped(x[0], a, b),
        swapped(x[1], a, b),
        0,
    ),
}


def cutting(size=None, stride=None, offset=None):
    """A way to cut, given a function of (x, dim, start, stop, step) for what it does otherwise than the right one."""
    size = size or (lambda x, dim, start, stop, step: len(range(start, stop, step)))
    stride = stride or (lambda x, dim, start, stop, step: x[1][dim] * step)
    offset = offset or (lambda x, dim, start, stop, step: x[2] + start * x[1][dim])

    def cut(x, dim, *how):
        return (
            changed(x[0], dim, size(x, dim, *how)),
            changed(x[1], dim, stride(x, dim, *how)),
            offset(x, dim, *how),
        )

    return cut


CUT = {
    "You may have added start to the offset. The offset grew by start in your answer, but the offset counts "
    "elements of the storage. One step along the dimension passes as many of them as its stride says, so the offset "
    "grows by start * stride.": cutting(offset=lambda x, d, start, *_: x[2] + start),
    "You may have left out the tensor's own offset. The new offset is counted from there: a slice of a slice starts "
    "that much later.": cutting(offset=lambda x, d, start, *_: start * x[1][d]),
    "You may have kept the old offset. Then the slice begins at index 0 of the dimension instead of at start.": cutting(
        offset=lambda x, *_: x[2]
    ),
    "You may have left out the step. The stride is still the old one, so your slice takes neighbors. A slice with a "
    "step of 2 takes every other element, so its stride is twice the old one.": cutting(
        stride=lambda x, d, *_: x[1][d]
    ),
    "You may have divided by the step and rounded down. x[0:5:2] has the elements 0, 2 and 4, so 5 / 2 is rounded "
    "up.": cutting(size=lambda x, d, start, stop, step: (stop - start) // step),
    "You may have forgotten the step in the size: x[0:4:2] has two elements, not four.": cutting(
        size=lambda x, d, start, stop, step: stop - start
    ),
}


def expanding(stride):
    def expand(x, sizes):
        added = len(sizes) - len(x[0])
        new = list(row_major(sizes))[:added] if stride == "copy" else [0] * added
        if stride == "copy":
            return sizes, row_major(sizes), 0
        if stride == "keep":
            return sizes, [*new, *x[1]], x[2]
        pairs = list(zip(x[0], sizes[added:], x[1]))
        if stride == "ones":
            return sizes, [*new, *(step if old > 1 else 0 for old, _, step in pairs)], x[2]
        if stride == "grown":
            return sizes, [*new, *(0 if size > old else step for old, size, step in pairs)], x[2]
        return sizes, [0] * len(sizes), x[2]

    return expand


EXPAND = {
    "You may have kept all strides. The dimension that grew from 1 has kept its stride, so its second index would "
    "lead to another element. With stride 0, every index leads to the one element there is.": expanding("keep"),
    "You may have computed the strides that a copy would have. expand repeats elements without storing them again, "
    "so a repeated dimension has stride 0.": expanding("copy"),
    "You may have set the stride to 0 for every size 1. In your answer a dimension that stays at 1 has lost its "
    "stride. torch changes a stride only where the size changes.": expanding("ones"),
    "You may have asked whether the size grew. In your answer a dimension that went from 1 to 0 still has its "
    "stride. torch sets the stride to 0 wherever a size of 1 changes, even where it changes to 0.": expanding("grown"),
    "You may have set all strides to 0. Only a dimension that grew or that is new has stride 0. The others keep "
    "their strides.": expanding("zero"),
}


def check(work):
    draw = random.Random(0)
    shapes = [(2, 3), (4,), (), (2, 0, 3), *(tuple(draw.choices((0, 1, 2, 3, 4), k=3)) for _ in range(50))]
    compare(
        "fresh",
        [(shape,) for shape in shapes],
        work.fresh,
        lambda sizes: metadata(torch.empty(sizes)),
        FRESH,
        "The last dimension has stride 1; each other stride is the product of the sizes after its dimension, with a "
        "size of 0 counted as 1.",
    )
    layouts = [((2, 3), (3, 1), 0), *(layout(draw) for _ in range(60))]
    compare(
        "transpose",
        [(x, *draw.sample(range(len(x[0])), 2)) for x in layouts],
        work.transpose,
        lambda x, a, b: metadata(tensor(x).transpose(a, b)),
        TRANSPOSE,
        "Two sizes change places, and so do the two strides; the offset stays.",
    )
    cuts = [(((5, 4), (4, 1), 3), 0, 1, 5, 2)]
    for x in layouts:
        dim = draw.randrange(len(x[0]))
        start = draw.randint(0, x[0][dim])
        cuts.append((x, dim, start, draw.randint(start, x[0][dim]), draw.randint(1, 3)))
    compare(
        "cut",
        cuts,
        work.cut,
        lambda x, dim, *how: metadata(tensor(x)[(slice(None),) * dim + (slice(*how),)]),
        CUT,
        "In one dimension the size becomes the number of elements taken, the stride is multiplied by step, and the "
        "offset grows by start times the old stride.",
    )
    growing = [(((3, 1), (1, 1), 0), (3, 4)), (((3, 1), (1, 1), 0), (3, 1)), (((3, 1), (1, 1), 0), (3, 0))]
    for x in (layout(draw, (1, 1, 2, 3)) for _ in range(60)):
        grown = tuple(draw.randint(0, 5) if size == 1 else size for size in x[0])
        growing.append((x, (*draw.choices((2, 3), k=draw.randint(0, 2)), *grown)))
    compare(
        "expand",
        growing,
        work.expand,
        lambda x, sizes: metadata(tensor(x).expand(sizes)),
        EXPAND,
        "A dimension that is new or that grew has stride 0; the others keep theirs, and the offset stays.",
    )
