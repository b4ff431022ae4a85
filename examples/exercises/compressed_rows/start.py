"""Compress the rows of a COO matrix, with operations on dense tensors.

The places may come in any order, and a place may occur several times.
"""

import torch


def compress(indices, values, shape):
    """Return (crow, col, values) of the same matrix in CSR.

    indices: int64, (2, n), the row and the column of each value.
    values: (n,), float32, float64, int64 or complex64.
    shape: (rows, columns).

    crow: int64, (rows + 1,), where in col and values each row begins,
        and where the last one ends.
    col: int64, ascending in each row, each place once.
    values: for each place the sum of its values, in the same dtype.
    """
    raise NotImplementedError("write compress")


if __name__ == "__main__":
    indices = torch.tensor([[2, 0, 2, 0, 2, 2], [1, 3, 1, 0, 4, 4]])
    values = torch.tensor([10.0, 20.0, 30.0, 5.0, 7.0, -7.0])
    try:
        crow, col, values = compress(indices, values, (4, 5))
        print("crow  ", crow)
        print("col   ", col)
        print("values", values)
    except NotImplementedError as missing:
        print("not written yet:", missing)
