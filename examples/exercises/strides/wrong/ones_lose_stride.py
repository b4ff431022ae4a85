# says: that stays at 1 has lost its stride
"""A stride of 0 for every size of 1."""


def fresh(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= max(size, 1)
    return sizes, strides, 0


def transpose(tensor, a, b):
    sizes, strides, offset = tensor
    dims = list(range(len(sizes)))
    dims[a], dims[b] = b, a
    return [sizes[d] for d in dims], [strides[d] for d in dims], offset


def cut(tensor, dim, start, stop, step):
    sizes, strides, offset = list(tensor[0]), list(tensor[1]), tensor[2]
    offset += start * strides[dim]
    sizes[dim] = len(range(start, stop, step))
    strides[dim] *= step
    return sizes, strides, offset


def expand(tensor, sizes):
    old, strides, offset = tensor
    added = len(sizes) - len(old)
    pairs = zip(old, sizes[added:], strides)
    kept = [stride if size > 1 else 0 for size, wanted, stride in pairs]
    return sizes, [0] * added + kept, offset
