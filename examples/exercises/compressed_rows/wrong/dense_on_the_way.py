# says: You may have made a dense matrix on the way
"""Adds in a dense matrix and counts how often each place was given."""

import torch


def compress(indices, values, shape):
    dense = values.new_zeros(shape)
    dense.index_put_(tuple(indices), values, accumulate=True)
    given = torch.zeros(shape, dtype=torch.bool)
    given[tuple(indices)] = True
    row, col = given.nonzero(as_tuple=True)
    crow = torch.zeros(shape[0] + 1, dtype=torch.int64)
    crow[1:] = row.bincount(minlength=shape[0]).cumsum(0)
    return crow, col, dense[row, col]
