"""Give toytorch the view diagonal: no element is copied."""

import toytorch as torch
from toytorch.view import view_op


@view_op
def diagonal(self, offset=0):
    """x.diagonal(offset) of a matrix.

    Returns the sizes and the strides of the view, a tuple each with one
    number for each dimension, and its offset in the storage.
    """
    (rows, columns), (down, right) = self.shape, self.strides
    raise NotImplementedError("write diagonal")


torch.publish()

if __name__ == "__main__":
    try:
        print(torch.ones(3, 3).diagonal())
    except NotImplementedError as missing:
        print("not written yet:", missing)
