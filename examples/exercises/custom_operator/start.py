"""Complete a custom operator: each row less a part of its mean.

center(x, by) is x - by * mean, with the mean of the last dimension. The
kernel is NumPy, which PyTorch cannot look into. So the operator has to
say what its result looks like, and what its derivative is.
"""

import torch


def kernel(x: torch.Tensor, by: float) -> torch.Tensor:
    """The result, computed with NumPy: a new, contiguous tensor.

    It has the dtype of x, which is float32 or float64.
    """
    raise NotImplementedError("write kernel")


def fake(x, by):
    """A tensor like the kernel's result, when x has no data."""
    raise NotImplementedError("write fake")


def setup(ctx, inputs, output):
    """Keep in ctx what backward needs."""
    raise NotImplementedError("write setup")


def backward(ctx, grad):
    """The gradient of x, and None for by."""
    raise NotImplementedError("write backward")


def register(name):
    """The operator, which tells PyTorch everything above."""
    op = torch.library.custom_op(name, kernel, mutates_args=())
    op.register_fake(fake)
    op.register_autograd(backward, setup_context=setup)
    return op


if __name__ == "__main__":
    try:
        center = register("exercise::center")
        x = torch.tensor([[1.0, 3.0], [5.0, 5.0]], requires_grad=True)
        y = torch.compile(center, backend="aot_eager")(x, 0.5)
        (y * y).sum().backward()
        print("y:     ", y.tolist())
        print("x.grad:", x.grad.tolist())
    except NotImplementedError as missing:
        print("not written yet:", missing)
    except RuntimeError as error:
        print(error)
