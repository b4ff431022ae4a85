"""Shapes are compared from the last dimension; a 1, or a dimension that is not there, repeats."""


def broadcast(a, b):
    length = max(len(a), len(b))
    ones_a = (1,) * (length - len(a)) + tuple(a)
    ones_b = (1,) * (length - len(b)) + tuple(b)
    result = [None] * length
    for d in reversed(range(length)):
        m, n = ones_a[d], ones_b[d]
        if m != n and 1 not in (m, n):
            raise ValueError(
                f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension {d}"
            )
        result[d] = n if m == 1 else m
    return tuple(result)


def summed(a, result):
    added = len(result) - len(a)
    grown = [added + d for d, size in enumerate(a) if size == 1]
    return [*range(added), *grown]
