"""Write torch.autograd.Function: a forward and a backward by hand."""

import toytorch as torch
from toytorch.autograd import Node, SavedVariable
from toytorch.dispatch import tls


class Context(Node):
    """The node of a Function. It is also the ctx that both get."""

    def save_for_backward(self, *tensors):
        """Fills self.saved, a dict. backward empties its values."""
        self.saved = {i: SavedVariable(x) for i, x in enumerate(tensors)}

    @property
    def saved_tensors(self):
        """A tuple of what was saved. SavedVariable has unpack(node)."""
        raise NotImplementedError("write saved_tensors")

    def apply(self, grad):
        """The gradients, a list: one for each input of forward.

        self.function is the class that has forward and backward.
        """
        raise NotImplementedError("write Context.apply")


class Function:
    @classmethod
    def apply(cls, *inputs):
        """cls.forward(ctx, *inputs), recorded as one node.

        Context(name, inputs) is connected with the nodes of the inputs.
        The result has its node in grad_fn, unless gradients are
        off, as tls.grad_mode says, or no input requires one.
        """
        raise NotImplementedError("write Function.apply")


if __name__ == "__main__":

    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * x * 2.0

    try:
        print(Square.apply(torch.tensor([3.0], requires_grad=True)))
    except NotImplementedError as missing:
        print("not written yet:", missing)
