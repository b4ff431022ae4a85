# says: stored zeros have disappeared
"""Makes a dense matrix and looks for what is not zero."""

import torch


def compress(indices, values, shape):
    dense = values.new_zeros(shape)
    dense.index_put_(tuple(indices), values, accumulate=True)
    row, col = dense.nonzero(as_tuple=True)
    crow = torch.zeros(shape[0] + 1, dtype=torch.int64)
    crow[1:] = row.bincount(minlength=shape[0]).cumsum(0)
    return crow, col, dense[row, col]
