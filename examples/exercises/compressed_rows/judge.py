"""Compare the compressed rows of a learner with those of torch, on fixed cases and on random matrices."""

import warnings

import torch
from check import Wrong, calls, tensor

warnings.filterwarnings("ignore", "Sparse CSR", UserWarning)

TORCH = ("sparse", "coalesce", "csr", "coo")  # what torch calls by such a name does the work
ADVICE = {
    "crow": "crow has one number more than there are rows: the position at which each row begins, and the end of the "
    "last one. An empty row begins where the next one begins.",
    "col": "Sort by row, and within a row by column. Each place occurs once.",
    "values": "Entry k of values belongs to the column in entry k of col. Values that share a place are added.",
}


def right(indices, values, shape):
    """CSR by torch: coalesced first, so that each place occurs once."""
    s = torch.sparse_coo_tensor(indices, values, shape, check_invariants=True).coalesce()
    row, col = s.indices()
    crow = torch.zeros(shape[0] + 1, dtype=torch.int64)
    crow[1:] = row.bincount(minlength=shape[0]).cumsum(0)
    assert not len(col) or torch.equal(s.to_sparse_csr().crow_indices(), crow)
    return crow, col, s.values()


def ordered(indices, values, shape, by):
    """The places sorted by `by`, none of them merged."""
    order = by.argsort(stable=True)
    crow = torch.zeros(shape[0] + 1, dtype=torch.int64)
    crow[1:] = indices[0].bincount(minlength=shape[0]).cumsum(0)
    return crow, indices[1][order], values[order]


def place(indices, shape):
    return indices[0] * max(shape[1], 1) + indices[1]


def last_wins(indices, values, shape):
    crow, col, _ = right(indices, values, shape)
    dense = values.new_zeros(shape)
    for i, j, value in zip(*indices.tolist(), values.tolist()):
        dense[i, j] = value
    row = torch.arange(shape[0]).repeat_interleave(crow.diff())
    return crow, col, dense[row, col]


def through_dense(indices, values, shape):
    dense = values.new_zeros(shape).index_put(tuple(indices), values, accumulate=True)
    row, col = dense.nonzero(as_tuple=True)
    return ordered(torch.stack((row, col)), dense[row, col], shape, row)


def to_the_last(indices, values, shape):
    crow, col, added = right(indices, values, shape)
    return crow[: int(indices[0].max()) + 2 if len(values) else 1], col, added


def only_filled(indices, values, shape):
    crow, col, added = right(indices, values, shape)
    return torch.cat((crow[:1], crow[1:][crow.diff() > 0])), col, added


IDEAS = {
    "You may have forgotten duplicates: a place occurs more than once in the result. Values at one place are added, "
    "and the place is stored once.": lambda i, v, s: ordered(i, v, s, place(i, s)),
    "You may have sorted by the row only: within a row the columns are not in order, or a place occurs more than "
    "once.": lambda i, v, s: ordered(i, v, s, i[0]),
    "You may have written the values into their places: the last value of a place replaced the others. In COO "
    "several values at one place mean their sum.": last_wins,
    "You may have looked for nonzeros in a dense matrix: stored zeros have disappeared. A place that is given is "
    "stored, also if its values add up to 0.": through_dense,
    "You may have counted the rows that occur: empty rows have no entry in crow. Each row of the shape "
    "has one.": only_filled,
    "You may have stopped at the last element: the rows after it have no entry in crow. bincount counts up to the "
    "largest number that it sees, so tell it how many rows there are.": to_the_last,
    "You may have returned where each row begins: the end of the last row is missing in crow. Row i is the part "
    "crow[i] to crow[i + 1].": lambda i, v, s: (right(i, v, s)[0][:-1], *right(i, v, s)[1:]),
    "You may have returned the counts: crow has the number of elements of each row. Add them up, so that each entry "
    "is a position.": lambda i, v, s: (
        torch.cat((torch.zeros(1).long(), right(i, v, s)[0].diff())),
        *right(i, v, s)[1:],
    ),
    "You may have compressed the columns. That is CSC: here the rows have a beginning, and each value has a "
    "column.": lambda i, v, s: right(i.flip(0), v, s[::-1]),
}


def same(came, expected):
    return len(came) == len(expected) and all(map(torch.equal, came, expected))


def cases():
    yield torch.tensor([[2, 0, 2, 0], [1, 3, 1, 0]]), torch.tensor([10.0, 20.0, 30.0, 5.0]), (4, 5)
    yield torch.tensor([[0, 0], [1, 1]]), torch.tensor([3.0, -3.0]), (2, 2)
    yield torch.tensor([[1], [0]]), torch.tensor([True]).long(), (3, 1)
    for shape in ((3, 4), (0, 4), (4, 0), (0, 0)):
        yield torch.zeros(2, 0, dtype=torch.int64), torch.zeros(0), shape
    torch.manual_seed(0)
    for n in [1, 2, 5, 10, 30, 60] * 12:
        rows, columns = torch.randint(1, 9, (2,)).tolist()
        indices = torch.stack((torch.randint(rows, (n,)), torch.randint(columns, (n,))))
        dtype = (torch.float32, torch.float64, torch.int64, torch.complex64)[n % 4]
        yield indices, torch.randint(-3, 4, (n,)).to(dtype), (rows, columns)
    # As a dense matrix this is larger than the address space of a process.
    n = 8_000_000
    yield torch.tensor([[0, n - 1, 0], [n - 2, 5, n - 2]]), torch.ones(3), (n, n)


def shown(parts):
    lines = [part.tolist() if len(part) < 40 else f"{len(part)} numbers" for part in parts]
    return "\n            ".join(f"{name:6} {line}" for name, line in zip(ADVICE, lines))


def answer(compress, case):
    """What the learner's function gives for copies of a case, as three tensors."""

    def seen(file, name):
        if any(word in name for word in TORCH):
            raise Wrong(
                f"`{name}` was called. It makes a sparse tensor, and then torch compresses the rows. Sorting, counting "
                "and adding are enough, with operations on dense tensors."
            )

    given = tuple(part.clone() for part in case[:2])
    with calls(seen):
        came = compress(*given, case[2])
    if not isinstance(came, tuple | list) or len(came) != 3:
        raise Wrong(f"compress returned a {type(came).__name__} where a tuple (crow, col, values) is expected")
    if not same(given, case[:2]):
        raise Wrong("compress has written into indices or values, which belong to the caller")
    return [tensor(part) for part in came]


def check(work):
    every = []
    for case in cases():
        try:
            came = answer(work.compress, case)
        except Exception as error:  # an answer that differed before tells more
            if not all(same(*one[1:]) for one in every):
                break
            if "allocate memory" in str(error):
                raise Wrong(
                    f"for three values in a matrix of {case[2]}, compress asked for too much memory:"
                    f"{str(error).split('.')[-2]}. You may have made a dense matrix on the way."
                ) from None
            raise
        expected = right(*case)
        for name, mine, its in zip(ADVICE, came, expected):
            if mine.dtype != its.dtype:
                raise Wrong(
                    f"for values of {case[1].dtype}, {name} has the dtype {mine.dtype} and should have "
                    f"{its.dtype}. crow and col count, so they are int64; values keep the dtype that they came in."
                )
        every.append((case, came, expected))
    differing = [one for one in every if not same(*one[1:])]
    if not differing:
        return
    small = [one for one in differing if one[0][2][1] < 1000] or differing
    case, came, expected = small[0]
    said = next((idea for idea, rival in IDEAS.items() if all(same(rival(*c), m) for c, m, _ in small)), "")
    part = next((name for name, a, b in zip(ADVICE, came, expected) if not torch.equal(a, b)), "crow")
    raise Wrong(
        f"compress({case[0].tolist()}, {case[1].tolist()}, {case[2]})\n  gave      {shown(came)}\n"
        f"  expected  {shown(expected)}\n{said or ADVICE[part]}"
    )
