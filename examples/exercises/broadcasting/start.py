"""Write broadcasting's rule, its error message, and what backward makes of it, in plain Python. Shapes are tuples."""


def broadcast(a, b):
    """The shape of x + y for an x of shape `a` and a y of shape `b`.

    Where there is none, raise ValueError with the words torch uses:
    The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1
    """
    raise NotImplementedError("write broadcast")


def summed(a, result):
    """The dimensions of `result` over which backward sums to give x, of shape `a`, its gradient.

    `result` is a shape that `a` broadcasts to, none of its sizes is 1, and the order is yours.
    """
    raise NotImplementedError("write summed")


if __name__ == "__main__":
    try:
        print("(2, 3) and (4, 2, 1):", broadcast((2, 3), (4, 2, 1)))
        print("the gradient of (2, 1) in (4, 2, 3):", summed((2, 1), (4, 2, 3)))
    except NotImplementedError as missing:
        print("not written yet:", missing)
