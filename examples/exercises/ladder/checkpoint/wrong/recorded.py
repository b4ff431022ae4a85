# says: recorded the function in forward
"""A graph that exists twice as short: it is built again when it is needed, from x."""

import toytorch as torch
from toytorch.autograd import Node, SavedVariable


class CheckpointBackward(Node):
    def apply(self, grad):
        x = self.saved["x"].unpack(self).detach().requires_grad_()
        with torch.enable_grad():
            again = self.function(x)
        again.backward(grad)
        return [x.grad]


def checkpoint(function, x):
    with torch.enable_grad():
        kept = function(x)
    result = kept.detach()
    node = CheckpointBackward("CheckpointBackward", [x])
    node.function, node.saved["x"] = function, SavedVariable(x)
    result.grad_fn, node.kept = node, kept
    return result
