"""Join the dimensions that one stride can walk, and cut the new ones out of these runs, from the last to the first."""

import math


def inferred(shape, count):
    known = math.prod(size for size in shape if size != -1)
    if -1 in shape:
        if shape.count(-1) > 1 or known == 0 or count % known:
            raise ValueError(f"{shape} leaves no one size for -1")
        return tuple(count // known if size == -1 else size for size in shape)
    if known != count:
        raise ValueError(f"{shape} has {known} elements instead of {count}")
    return tuple(shape)


def joined(sizes, strides):
    runs = []
    for size, stride in zip(sizes, strides):
        if size == 1:
            continue
        if runs and runs[-1][1] == size * stride:
            runs[-1] = (runs[-1][0] * size, stride)
        else:
            runs.append((size, stride))
    return runs


def view(sizes, strides, shape):
    shape = inferred(shape, math.prod(sizes))
    if 0 in sizes:
        return shape, (1,) * len(shape)
    runs, result = joined(sizes, strides), []
    left, step = 1, 1  # what is left of the run that is open; none is
    for size in reversed(shape):
        if left == 1 and size > 1:
            left, step = runs.pop()
        if left % size:
            raise ValueError(f"a dimension of size {size} would need two strides")
        result.insert(0, step)
        left //= size
        step *= size
    return shape, tuple(result)
