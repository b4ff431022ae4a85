"""Broadcasting is one rule on sizes, and a stride of 0 wherever a size grew."""

import itertools
import random

import numpy as np
import torch

MISMATCH = "The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension {}"


# --8<-- [start:rule]
def common_shape(a, b):
    """Sizes from the right: equal, or one of them is 1 or missing."""
    longest, sizes = max(len(a), len(b)), []
    for d in range(1, longest + 1):
        m = a[-d] if d <= len(a) else 1
        n = b[-d] if d <= len(b) else 1
        if m != n and 1 not in (m, n):
            raise ValueError(MISMATCH.format(m, n, longest - d))
        sizes.append(n if m == 1 else m)
    return tuple(reversed(sizes))


def expanded_strides(shape, strides, common):
    """0 for a dimension that is new or grew from 1, as before elsewhere."""
    new = len(common) - len(shape)
    expanded = [0] * new
    for old, stride, size in zip(shape, strides, common[new:]):
        expanded.append(stride if old == size else 0)
    return tuple(expanded)


# --8<-- [end:rule]
# --8<-- [start:add]
def read(storage, index, strides):
    return storage[sum(i * step for i, step in zip(index, strides))]


def add(x, y):
    """x + y element by element; each is (flat list, shape, strides)."""
    common = common_shape(x[1], y[1])
    p, q = (expanded_strides(*z[1:], common) for z in (x, y))
    indices = itertools.product(*map(range, common))
    return [read(x[0], i, p) + read(y[0], i, q) for i in indices], common


# --8<-- [end:add]
# --8<-- [start:compare]
def random_tensor():
    """Up to four dimensions; half of the time in a shuffled order."""
    shape = random.choices((0, 1, 2, 3), (1, 6, 4, 4), k=random.randrange(5))
    x = torch.arange(float(np.prod(shape))).reshape(shape)
    order = random.sample(range(x.dim()), x.dim())
    return x.permute(order) if random.random() < 0.5 else x


def flat(x):
    """The parts that `add` reads, taken from a tensor with offset 0."""
    whole = x.as_strided((x.untyped_storage().nbytes() // 4,), (1,))
    return whole.tolist(), tuple(x.shape), x.stride()


random.seed(0)
granted = 0
for _ in range(2000):
    a, b = random_tensor(), random_tensor()
    try:
        values, shape = add(flat(a), flat(b))
    except ValueError as refusal:
        try:
            a + b
        except RuntimeError as error:
            assert str(error) == str(refusal)
        else:
            raise AssertionError((a.shape, b.shape)) from None
        continue
    granted += 1
    assert shape == (a + b).shape == np.broadcast_shapes(a.shape, b.shape)
    assert values == (a + b).flatten().tolist()
    for ours, theirs in zip((a, b), torch.broadcast_tensors(a, b)):
        strides = expanded_strides(ours.shape, ours.stride(), shape)
        for size, mine, torchs in zip(shape, strides, theirs.stride()):
            assert mine == torchs or size == 1
print(f"{granted} of 2000 pairs of shapes granted, as in torch")
# --8<-- [end:compare]
