"""Compare the size, stride and offset of diagonals in toytorch with torch's."""

from check import Wrong, compare
from ladder.rungs import both, toytorch

LAYOUTS = (
    ((4, 4), (4, 1), 0),
    ((3, 5), (5, 1), 0),
    ((5, 3), (1, 5), 2),
    ((4, 2), (6, 3), 7),
    ((2, 4), (1, 8), 5),
)
CASES = tuple((x, by) for x in LAYOUTS for by in range(1 - x[0][0], x[0][1]))


def matrix(torch, sizes, strides, offset):
    if torch is toytorch:
        return torch.Tensor(torch.zeros(100).untyped_storage(), torch.float32, sizes, strides, offset)
    return torch.zeros(100).as_strided(sizes, strides, offset)


def ask(torch, x, by):
    view = torch.diagonal(matrix(torch, *x), by)
    return tuple(view.shape), tuple(view.stride()), view.storage_offset()


def rival(size=None, stride=None, offset=None):
    size = size or (lambda n, m, above, below: min(n - below, m - above))
    stride = stride or (lambda down, along: down + along)
    offset = offset or (lambda start, down, along, above, below: start + above * along + below * down)

    def diagonal(x, by):
        (rows, columns), (down, along), start = x
        above, below = max(by, 0), max(-by, 0)
        return (size(rows, columns, above, below),), (stride(down, along),), offset(start, down, along, above, below)

    return diagonal


IDEAS = {
    "You may have taken one step only. To the next element of the diagonal it is one row down and one column to the "
    "right, so the stride is the sum of both strides.": rival(stride=lambda down, along: down),
    "You may have computed with a contiguous matrix, whose diagonal has the stride columns + 1. A transposed matrix "
    "has other strides: add the two that it has.": lambda x, by: (
        rival()(x, by)[0],
        (x[0][1] + 1,),
        rival()(x, by)[2],
    ),
    "You may have given every diagonal the length of the main one. A diagonal that begins later ends at the same "
    "border, and your answer leaves the matrix.": rival(size=lambda n, m, above, below: min(n, m)),
    "You may have subtracted |offset| from the smaller side. A diagonal above the main one loses columns, one below "
    "it loses rows; in a wide matrix it may lose nothing.": rival(
        size=lambda n, m, above, below: min(n, m) - above - below
    ),
    "You may have moved along the columns for a negative offset as well. A diagonal below the main one begins further "
    "down: each row passes as many elements as the first stride says.": rival(
        offset=lambda start, down, along, above, below: start + (above - below) * along
    ),
    "You may have left out the offset of the matrix itself. The view begins that much later in the storage.": rival(
        offset=lambda start, down, along, above, below: above * along + below * down
    ),
}


def check(work):
    otherwise = "One stride is the sum of both. The offset grows by the stride along which it begins later."
    compare("diagonal", CASES, *both(ask), IDEAS, otherwise)
    x = toytorch.zeros(3, 3)
    if x.diagonal().untyped_storage() is not x.untyped_storage():
        raise Wrong("x.diagonal() has a storage of its own. A view shares the storage of its base.")
