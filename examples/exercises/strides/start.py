"""Predict the metadata of a tensor, in plain Python.

A tensor is a tuple here: (sizes, strides, offset).
"""


def fresh(sizes):
    """The tensor that torch.empty(sizes) gives."""
    raise NotImplementedError("write fresh")


def transpose(tensor, a, b):
    """x.transpose(a, b): the dimensions a and b change places."""
    raise NotImplementedError("write transpose")


def cut(tensor, dim, start, stop, step):
    """x[start:stop:step] in dimension dim.

    0 <= start <= stop <= size, and step >= 1.
    """
    raise NotImplementedError("write cut")


def expand(tensor, sizes):
    """x.expand(sizes): a size 1 may become any size.

    sizes may have more dimensions than x: new ones in front, not of size 1.
    """
    raise NotImplementedError("write expand")


if __name__ == "__main__":
    try:
        x = fresh((4, 6))
        y = transpose(x, 0, 1)
        z = cut(y, 0, 1, 6, 2)
        print(x, y, z, expand(z, (5, 3, 4)), sep="\n")
    except NotImplementedError as missing:
        print("not written yet:", missing)
