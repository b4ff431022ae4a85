# says: You may have counted the rows that occur
"""Counts the rows that have elements."""

import torch


def compress(indices, values, shape):
    columns = shape[1]
    place = indices[0] * columns + indices[1]
    place, which = place.unique(return_inverse=True)
    added = values.new_zeros(len(place)).index_add(0, which, values)
    row = place.div(max(columns, 1), rounding_mode="floor")
    found = row.unique(return_counts=True)[1]
    crow = torch.cat((torch.zeros(1, dtype=torch.int64), found.cumsum(0)))
    return crow, place - row * columns, added
