# says: values has the dtype torch.float32
"""Adds in float32."""

import torch


def compress(indices, values, shape):
    rows, columns = shape
    place = indices[0] * columns + indices[1]
    place, which = place.unique(return_inverse=True)
    added = torch.zeros(len(place)).index_add(0, which, values.float())
    row = place.div(max(columns, 1), rounding_mode="floor")
    crow = torch.zeros(rows + 1, dtype=torch.int64)
    crow[1:] = row.bincount(minlength=rows).cumsum(0)
    return crow, place - row * columns, added
