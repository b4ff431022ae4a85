"""One number for each place: sorting the numbers sorts the places."""

import torch


def compress(indices, values, shape):
    rows, columns = shape
    number = indices[0] * columns + indices[1]
    place, position = number.unique(return_inverse=True)
    added = values.new_zeros(len(place)).index_add(0, position, values)
    row, col = place // columns, place % columns
    crow = torch.zeros(rows + 1, dtype=torch.int64)
    crow[1:] = row.bincount(minlength=rows).cumsum(0)
    return crow, col, added
