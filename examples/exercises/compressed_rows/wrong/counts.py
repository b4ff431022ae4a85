# says: crow has the number of elements of each row
"""Counts without a running sum."""

import torch


def compress(indices, values, shape):
    rows, columns = shape
    place = indices[0] * columns + indices[1]
    place, which = place.unique(return_inverse=True)
    added = values.new_zeros(len(place)).index_add(0, which, values)
    row = place.div(max(columns, 1), rounding_mode="floor")
    crow = torch.zeros(rows + 1, dtype=torch.int64)
    crow[1:] = row.bincount(minlength=rows)
    return crow, place - row * columns, added
