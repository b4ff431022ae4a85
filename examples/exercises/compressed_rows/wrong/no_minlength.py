# says: You may have stopped at the last element
"""bincount without a length."""

import torch


def compress(indices, values, shape):
    columns = shape[1]
    place = indices[0] * columns + indices[1]
    place, which = place.unique(return_inverse=True)
    added = values.new_zeros(len(place)).index_add(0, which, values)
    row = place.div(max(columns, 1), rounding_mode="floor")
    ends = row.bincount().cumsum(0)
    crow = torch.cat((torch.zeros(1, dtype=torch.int64), ends))
    return crow, place - row * columns, added
