# says: the last value of a place replaced the others
"""Writes where it should add."""

import torch


def compress(indices, values, shape):
    rows, columns = shape
    place = indices[0] * columns + indices[1]
    place, which = place.unique(return_inverse=True)
    added = values.new_zeros(len(place))
    for to, value in zip(which.tolist(), values):
        added[to] = value
    row = place.div(max(columns, 1), rounding_mode="floor")
    crow = torch.zeros(rows + 1, dtype=torch.int64)
    crow[1:] = row.bincount(minlength=rows).cumsum(0)
    return crow, place - row * columns, added
