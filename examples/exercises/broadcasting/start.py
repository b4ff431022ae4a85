"""Write broadcasting's rule, its error message and its backward.

Plain Python is enough. Shapes are tuples.
"""


def broadcast(a, b):
    """The shape of x + y for an x of shape `a` and a y of shape `b`.

    Where there is none, raise ValueError with torch's message. It is one
    line, broken here: The size of tensor a (3) must match the size of
    tensor b (2) at non-singleton dimension 1
    """
    raise NotImplementedError("write broadcast")


def summed(a, result):
    """The dimensions over which backward sums the gradient for x.

    x has the shape `a`, and the gradient arrives with the shape `result`,
    to which `a` broadcasts. No size of `result` is 1, so each 1 of `a` was
    repeated. List the dimensions of `result` in any order.
    """
    raise NotImplementedError("write summed")


if __name__ == "__main__":
    try:
        print("(2, 3) and (4, 2, 1):", broadcast((2, 3), (4, 2, 1)))
        print("(2, 1) in (4, 2, 3) sums over", summed((2, 1), (4, 2, 3)))
    except NotImplementedError as missing:
        print("not written yet:", missing)
