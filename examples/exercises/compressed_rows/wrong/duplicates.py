# says: a place occurs more than once in the result
"""Sorts and adds nothing."""

import torch


def compress(indices, values, shape):
    rows, columns = shape
    place = indices[0] * columns + indices[1]
    place, which = place.sort(stable=True)
    added = values[which]
    row = place.div(max(columns, 1), rounding_mode="floor")
    crow = torch.zeros(rows + 1, dtype=torch.int64)
    crow[1:] = row.bincount(minlength=rows).cumsum(0)
    return crow, place - row * columns, added
