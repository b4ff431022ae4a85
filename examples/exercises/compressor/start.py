"""Keep what autograd saves in a quarter of the bytes: write the hooks that pack a saved tensor and unpack it."""

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks


def hooks(parameters):
    """The functions pack and unpack of a network with these parameters, for saved_tensors_hooks.

    A floating-point tensor of 64 elements or more is kept in at most one byte an element and 8 bytes a row (along
    its last dimension). It comes back with its shape and dtype, each element at most a 127th of its row's largest
    magnitude away from what it was (in bfloat16, two); 0 comes back as 0, and nothing else does. All are finite. (The
    rows asked about lie well within what float32, float64 and bfloat16 can hold.)

    Any other tensor, and whatever lies in the memory of a parameter, is kept as it is, without a copy. If it was
    written to in the meantime, unpack raises RuntimeError. What was saved lives no longer than the graph.
    """

    def pack(t):
        raise NotImplementedError("write pack")

    def unpack(kept):
        raise NotImplementedError("write unpack")

    return pack, unpack


if __name__ == "__main__":
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    loss, x = net(torch.ones(32, 64)).sum(), torch.ones(32, 64)
    exact = torch.autograd.grad(loss, net[0].weight)[0]
    try:
        with saved_tensors_hooks(*hooks(list(net.parameters()))):
            loss = net(x).sum()
        rounded = torch.autograd.grad(loss, net[0].weight)[0]
        print("the gradient is off by at most", (rounded - exact).abs().max().item())
    except NotImplementedError as missing:
        print("not written yet:", missing)
