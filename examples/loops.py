"""TensorIterator sorts the dimensions of all operands by stride, lays the result out alike, and merges what it can."""

import random

import torch
from torch._tensor_iterator import binary_op


# --8<-- [start:order]
def before(d, e, strides):
    """Whether the first operand that has a say steps less along d."""
    for s in strides:
        if s[d] and s[e] and s[d] != s[e]:
            return s[d] < s[e]
    return None


def order_of(shape, strides):
    """The dimensions, that of the innermost loop first."""
    order = []
    for d in reversed(range(len(shape))):
        place = len(order)
        for i in reversed(range(len(order))):
            inside = before(d, order[i], strides)
            if inside:
                place = i
            elif inside is False:
                break
        order.insert(place, d)
    return order


# --8<-- [end:order]
# --8<-- [start:plan]
def plan(a, b):
    """The strides of a + b; its loops as (size, stride of each)."""
    shape = torch.broadcast_shapes(a.shape, b.shape)
    strides = [t.expand(shape).stride() for t in (a, b)]
    order = order_of(shape, strides)
    result, stride = [0] * len(shape), 1
    for d in order:
        result[d] = stride
        stride *= shape[d]
    loops = []
    for d in order:
        outer = [s[d] for s in (result, *strides)]
        size, inner = loops[-1] if loops else (0, outer)
        if loops and outer == [size * stride for stride in inner]:
            loops[-1] = (size * shape[d], inner)
        else:
            loops.append((shape[d], outer))
    return tuple(result), loops


# --8<-- [end:plan]
# --8<-- [start:compare]
def random_tensor(shape):
    """Zeros of this shape, their dimensions in any order in memory, with gaps or without."""
    order = random.sample(range(len(shape)), len(shape))
    memory = torch.zeros([shape[d] * random.choice((1, 1, 2)) for d in order])
    x = memory.permute([order.index(d) for d in range(len(shape))])
    return x[tuple(slice(0, size) for size in shape)]


def random_pair():
    """Two tensors that broadcast, either one first."""
    shape = random.choices((2, 3, 4), k=random.choice((2, 3, 4)))
    small = [random.choice((1, size, size)) for size in shape]
    pair = [random_tensor(shape), random_tensor(small[random.choice((0, 0, 1)) :])]
    return random.sample(pair, 2)


print("y + x:", plan(torch.zeros(3, 2).t(), torch.zeros(2, 3)))
random.seed(0)
merged = 0
for _ in range(2000):
    a, b = random_pair()
    strides, loops = plan(a, b)
    assert strides == (a + b).stride()
    torchs = binary_op(None, a, b)
    steps = zip(*(torchs.element_strides(i) for i in range(3)))
    assert loops == [(size, list(step)) for size, step in zip(torchs.shape, steps)]
    merged += len(loops) < (a + b).dim()
print(f"2000 plans as torch makes them, in {merged} of them dimensions were merged")
# --8<-- [end:compare]
