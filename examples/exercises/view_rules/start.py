"""Decide when view() needs no copy, and which strides it gives.

Plain Python with integers is enough.
"""


def view(sizes, strides, shape):
    """x.view(shape) for an x of these sizes and strides.

    Return the new (sizes, strides). One size in `shape` may be -1: the one
    that makes the number of elements right. Raise ValueError where torch
    refuses. The stride of a dimension of size 1, or of an empty tensor, may
    be any number.
    """
    raise NotImplementedError("write view")


if __name__ == "__main__":
    try:
        print(view((3, 4), (4, 1), (2, -1)), "should be ((2, 6), (6, 1))")
        print(view((3, 2), (4, 2), (6,)), "should be ((6,), (2,))")
        print(view((4, 3), (1, 4), (12,)), "should be a ValueError")
    except ValueError as error:
        print("ValueError:", error)
    except NotImplementedError as missing:
        print("not written yet:", missing)
