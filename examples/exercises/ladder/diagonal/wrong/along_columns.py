# says: along the columns for a negative offset
"""A step along the diagonal is a step down and a step to the right."""

import toytorch as torch
from toytorch.view import view_op


@view_op
def diagonal(self, offset=0):
    (rows, columns), (down, right) = self.shape, self.strides
    above, below = max(offset, 0), max(-offset, 0)
    size = min(rows - below, columns - above)
    offset = self.offset + offset * right
    return (size,), (down + right,), offset


torch.publish()
