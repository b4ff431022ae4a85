"""Predict the memory of a training step, in plain Python.

The model is Linear(widths[0], widths[1]), ReLU, Linear(widths[1],
widths[2]), ReLU, ... and ends in a Linear. All numbers are float32, and
each function returns a number of bytes.
"""


def always(widths, optimizer):
    """Bytes of the parameters and of the optimizer's state.

    The optimizer is "SGD", "momentum" (SGD with momentum) or "Adam".
    """
    raise NotImplementedError("write always")


def saved(widths, batch):
    """Bytes that forward made and that are held until backward.

    batch is the number of rows of x. Not counted are x itself, the
    parameters and the loss.
    """
    raise NotImplementedError("write saved")


def peak(widths, batch, optimizer, clear):
    """The most bytes alive at one moment of the second step.

    clear says where zero_grad() stands: "before" or "after" forward.
    """
    raise NotImplementedError("write peak")


if __name__ == "__main__":
    try:
        print(always((8, 16, 4), "Adam"), saved((8, 16, 4), 32))
        print(peak((8, 16, 4), 32, "Adam", "before"))
    except NotImplementedError as missing:
        print("not written yet:", missing)
