"""Compress the rows of a COO matrix, in plain tensor operations.

The places may come in any order, and a place may occur several times.
"""

import torch


def compress(indices, values, shape):
    """Return (crow, col, values) of the same matrix in CSR.

    indices: int64, (2, n), the row and the column of each value.
    values: (n,), of any dtype with a sum.
    shape: (rows, columns).
    """
    raise NotImplementedError("write compress")


if __name__ == "__main__":
    indices = torch.tensor([[2, 0, 2, 0], [1, 3, 1, 0]])
    values = torch.tensor([10.0, 20.0, 30.0, 40.0])
    try:
        for part in compress(indices, values, (4, 5)):
            print(part)
    except NotImplementedError as missing:
        print("not written yet:", missing)
