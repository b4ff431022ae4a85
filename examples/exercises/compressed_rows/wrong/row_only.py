# says: within a row the columns are not in order
"""Sorts by the row."""

import torch


def compress(indices, values, shape):
    rows, columns = shape
    place = indices[0] * columns + indices[1]
    which = indices[0].argsort(stable=True)
    place, added = place[which], values[which]
    row = place.div(max(columns, 1), rounding_mode="floor")
    crow = torch.zeros(rows + 1, dtype=torch.int64)
    crow[1:] = row.bincount(minlength=rows).cumsum(0)
    return crow, place - row * columns, added
