"""Write a hook on a tensor: it sees the gradient and may change it."""

import toytorch as torch


def register_hook(tensor, hook):
    """Calls hook(grad) when backward has the whole gradient of tensor.

    What the hook returns goes on in its place, unless that is None.
    Hooks of one tensor run in the order in which they were registered.
    Returns a function without arguments that takes the hook away.

    tensor is the result of an operation. Its node, tensor.grad_fn,
    computes with node.apply(grad): an attribute that can be replaced.
    """
    raise NotImplementedError("write register_hook")


if __name__ == "__main__":
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    try:
        register_hook(y, lambda grad: grad * 10)
        y.sum().backward()
        print(x.grad)
    except NotImplementedError as missing:
        print("not written yet:", missing)
