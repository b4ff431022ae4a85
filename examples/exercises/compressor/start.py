"""Write hooks that keep saved tensors in a quarter of their bytes."""

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks


def hooks(parameters):
    """The functions pack and unpack for a network with these parameters.

    A floating-point tensor of 64 elements or more is kept in at most one
    byte an element and 8 bytes a row. A row lies along the last dimension.
    The tensor comes back with its shape and dtype. Each element is off by
    at most a 127th of its row's largest magnitude, or two 127ths in
    bfloat16. 0 comes back as 0, and no other number does. All numbers are
    finite, and well within what their dtype can hold.

    Any other tensor is kept as it is, without a copy, and so is whatever
    lies in the memory of a parameter. If such a tensor was written to
    after pack, unpack raises RuntimeError. No saved tensor outlives the
    graph.
    """

    def pack(t):
        raise NotImplementedError("write pack")

    def unpack(kept):
        raise NotImplementedError("write unpack")

    return pack, unpack


if __name__ == "__main__":
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    x, w = torch.ones(32, 64), net[0].weight
    (exact,) = torch.autograd.grad(net(x).sum(), w)
    try:
        with saved_tensors_hooks(*hooks(list(net.parameters()))):
            loss = net(x).sum()
        (rounded,) = torch.autograd.grad(loss, w)
        print("largest error:", (rounded - exact).abs().max().item())
    except NotImplementedError as missing:
        print("not written yet:", missing)
