# says: multiplied by the last stride of x
"""One stride for all of x."""

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


def view(sizes, strides, shape):
    shape = inferred(shape, math.prod(sizes))
    return shape, [strides[-1] * math.prod(shape[d + 1 :]) for d in range(len(shape))]
