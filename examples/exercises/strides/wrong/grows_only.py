# says: that went from 1 to 0 still has
"""A stride of 0 only for what becomes larger."""


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
    kept = [0 if wanted > size else stride for size, wanted, stride in pairs]
    return sizes, [0] * added + kept, offset
