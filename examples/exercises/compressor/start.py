"""Write hooks that keep saved tensors in a quarter of their bytes."""

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks


def hooks(parameters):
    """The functions pack and unpack for a network with these parameters.

    Compress a floating-point tensor of 64 elements or more, unless it lies
    in the memory of a parameter. You can rely on it that its elements are
    finite and far from the largest and smallest numbers of its dtype.
    - At most one byte an element and 8 bytes a row are kept. A row lies
      along the last dimension.
    - It comes back with its shape and dtype.
    - Each element is off by at most a 127th of the largest magnitude in its
      row. In bfloat16, which rounds more, two 127ths are allowed.
    - 0 comes back as 0, and no other number does.

    Keep any other tensor as it is, without a copy. If it was written to
    after pack, unpack raises RuntimeError.

    When the result of a graph is deleted, all that pack returned is freed.
    """

    def pack(t):
        raise NotImplementedError("write pack")

    def unpack(kept):
        raise NotImplementedError("write unpack")

    return pack, unpack


if __name__ == "__main__":
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    x, w = torch.randn(32, 64), net[0].weight
    (exact,) = torch.autograd.grad(net(x).sum(), w)
    try:
        with saved_tensors_hooks(*hooks(list(net.parameters()))):
            loss = net(x).sum()
        (rounded,) = torch.autograd.grad(loss, w)
        error = (rounded - exact).norm() / exact.norm()
        print(f"the gradient is off by {error:.1%}")
    except NotImplementedError as missing:
        print("not written yet:", missing)
