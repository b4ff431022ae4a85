"""Compare a broadcasting checker with torch: the shapes, the refusals word for word, and the gradients."""

import itertools
import random

import torch
from check import Wrong, compare, plain

PLAIN = True
REFUSED = "refused with a ValueError"


def torchs(a, b):
    """The shape that torch gives, or its message."""
    try:
        return tuple((torch.empty(a) + torch.empty(b)).shape)
    except RuntimeError as error:
        return str(error)


def refusing(function):
    """`function` with any refusal as one sentence."""

    def answer(*shapes):
        try:
            answer = plain(function(*shapes))
        except ValueError:
            return REFUSED
        return REFUSED if isinstance(answer, str) else answer

    return answer


def messaging(function):
    """`function` with a refusal as its message."""

    def answer(*shapes):
        try:
            return plain(function(*shapes))
        except ValueError as error:
            return str(error)

    return answer


def aligned(a, b, left=False):
    length = max(len(a), len(b))
    ones = [(1,) * (length - len(shape)) for shape in (a, b)]
    return list(zip(*((shape + one if left else one + shape) for shape, one in zip((a, b), ones))))


def other(m, n):
    return n if m == 1 else m


def stretched(m, n):
    return m == n or 1 in (m, n)


def rule(fits=stretched, size=other, left=False, unless=lambda a, b: False):
    """A rule of broadcasting, wrong in what is given."""

    def broadcast(a, b):
        pairs = aligned(a, b, left)
        if unless(a, b) or not all(fits(m, n) for m, n in pairs):
            return REFUSED
        return tuple(size(m, n) for m, n in pairs)

    return broadcast


SHAPES = {
    "You may have compared the shapes from their first dimension. torch begins at the last one, and missing "
    "dimensions are added in front.": rule(left=True),
    "You may have chosen the larger size. But the larger of the two sizes is right only while no size is 0. A 1 "
    "becomes whatever the other size is: 0 and 1 give 0.": rule(size=max),
    "You may have thought that a size of 0 never fits. A 0 fits another 0, and a 1 becomes 0.": rule(
        unless=lambda a, b: 0 in a + b
    ),
    "You may have thought that a size of 0 fits everything. Only a 1 fits every size, so 0 and 3 do not fit.": rule(
        fits=lambda m, n: stretched(m, n) or 0 in (m, n), size=min
    ),
    "You may have thought that a size of 2 repeats to 4. A multiple was let through, but only a size of 1 "
    "repeats.": rule(
        fits=lambda m, n: (0 not in (m, n) and (m % n == 0 or n % m == 0)) or m == n or 1 in (m, n),
        size=lambda m, n: 0 if 0 in (m, n) else max(m, n),
    ),
    "You may have thought that both shapes need the same length. Shapes of different lengths were refused, but "
    "torch fills up the shorter one with ones in front.": rule(unless=lambda a, b: len(a) != len(b)),
    "You may have thought that the second shape has to fit the first. Only the second shape was stretched, but "
    "torch stretches both: (3, 1) and (1, 4) give (3, 4).": rule(fits=lambda m, n: n in (1, m), size=lambda m, n: m),
    "You may have thought of expand, which stretches one shape to another. Addition stretches both: (3, 1) and (1, "
    "4) give (3, 4).": rule(fits=lambda m, n: m in (1, n), size=lambda m, n: n),
}


def worded(number=lambda d, pairs, a, b: d, first=False, swap=False):
    """A message for two shapes that do not fit."""

    def message(a, b):
        pairs = aligned(a, b)
        clashes = [d for d, (m, n) in enumerate(pairs) if not stretched(m, n)]
        d = clashes[0 if first else -1]
        m, n = pairs[d][::-1] if swap else pairs[d]
        at = number(d, pairs, a, b)
        return f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension {at}"

    return message


MESSAGES = {
    "You may have gone through the dimensions from the front. Two of them do not fit, and your message names the "
    "first. torch begins at the last dimension, so it stops at the later of the two.": worded(first=True),
    "You may have counted before the ones were added. Your dimension is counted in the shorter shape; torch counts "
    "it from the front of the result.": worded(number=lambda d, pairs, a, b: d - len(pairs) + min(len(a), len(b))),
    "You may have counted from the end, where the comparison begins. torch counts the dimension from the front of "
    "the result.": worded(number=lambda d, pairs, a, b: len(pairs) - 1 - d),
    "You may have counted from the end, with a negative number. torch counts the dimension from the front of the "
    "result.": worded(number=lambda d, pairs, a, b: d - len(pairs)),
    "You may have exchanged the two sizes. In the message, tensor a has the first shape and tensor b the "
    "second.": worded(swap=True),
}


def grown(a, result, front=True, ones=True, shift=True, kept=False):
    added = len(result) - len(a)
    dims = list(range(added)) if front else []
    for d, size in enumerate(a):
        if ones and (size == 1) != kept:
            dims.append(d + added if shift else d)
    return tuple(sorted(dims))


def proven(a, result):
    """The dimensions, after torch's own gradient has confirmed them."""
    dims = grown(a, result)
    grad = torch.rand(result)
    x = torch.zeros(a, requires_grad=True)
    (x + torch.zeros(result)).backward(grad)
    total = grad.sum(dims).reshape(a) if dims else grad.reshape(a)
    assert torch.allclose(total, x.grad), (a, result)
    return dims


SUMS = {
    "You may have forgotten the dimensions that x does not have. In your answer, those added in front are missing. "
    "x was repeated along them too, and each use of an element sends back a gradient.": lambda a, result: grown(
        a, result, front=False
    ),
    "You may have forgotten the dimensions that grew from 1. Your answer has only those that were added "
    "in front.": lambda a, result: grown(a, result, ones=False),
    "You may have numbered the dimensions as in x. Yours are counted in x, but the gradient that arrives has the "
    "shape of the result. There each dimension of x has a higher number, by as many dimensions as were added in "
    "front.": lambda a, result: grown(a, result, shift=False),
    "You may have listed the dimensions that did not grow. Along those, every element has a gradient of its own. "
    "Sum over the dimensions along which one element was used many times.": lambda a, result: grown(
        a, result, front=False, kept=True
    ),
}


def pairs(draw):
    """Pairs of shapes, half of them made to fit."""
    yield from [((3,), (4,)), ((2, 3), (2,)), ((3, 1), (1, 4)), ((0,), (1,)), ((0,), (3,)), ((), (2, 3)), ((2,), (4,))]
    for _ in range(300):
        whole = draw.choices((0, 1, 2, 3, 4), (1, 3, 4, 4, 4), k=draw.randint(0, 4))
        shapes = []
        for _ in range(2):
            shape = tuple(size if draw.random() < 0.6 else 1 for size in whole[draw.randint(0, len(whole)) :])
            shapes.append(shape)
        if shapes[1] and draw.random() < 0.5:
            d = draw.randrange(len(shapes[1]))
            shapes[1] = (*shapes[1][:d], draw.randint(2, 4), *shapes[1][d + 1 :])
        yield tuple(shapes)
    yield from itertools.permutations([(2, 3, 4), (3, 2, 4), (5, 6), (2, 1), (4, 3, 2, 1)], 2)


def check(work):
    torch.manual_seed(0)
    cases = list(pairs(random.Random(0)))
    compare(
        "broadcast",
        cases,
        refusing(work.broadcast),
        refusing(torchs),
        SHAPES,
        "From the last dimension on: equal sizes stay, a 1 becomes the other size, anything else does not fit.",
    )
    clashes = [case for case in cases if isinstance(torchs(*case), str)]
    compare(
        "broadcast",
        clashes,
        messaging(work.broadcast),
        torchs,
        MESSAGES,
        "Your function refuses where torch does, but in other words. Compare your message with the one in the "
        "docstring.",
    )
    results = [(a, torchs(*case)) for case in cases for a in case]
    results = [(a, result) for a, result in results if not isinstance(result, str) and 1 not in result]

    def mine(a, result):
        dims = work.summed(a, result)
        if not isinstance(dims, list | tuple) or not all(isinstance(d, int) for d in dims):
            raise Wrong(f"summed({a}, {result}) gave {dims!r}, but a list of dimensions was expected")
        return tuple(sorted(d + len(result) if d < 0 else d for d in dims))

    compare(
        "summed",
        results,
        mine,
        proven,
        SUMS,
        "Backward sums over each dimension along which x was repeated: those added in front, and those that grew "
        "from 1.",
    )
