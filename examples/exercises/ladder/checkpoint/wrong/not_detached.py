# says: left out detach()
"""A graph that exists twice as short: it is built again when it is needed, from x."""

import toytorch as torch
from toytorch.autograd import Node, SavedVariable


class CheckpointBackward(Node):
    def apply(self, grad):
        x = self.saved["x"].unpack(self)
        with torch.enable_grad():
            again = self.function(x)
        again.backward(grad)
        return [x.grad]


def checkpoint(function, x):
    with torch.no_grad():
        result = function(x)
    node = CheckpointBackward("CheckpointBackward", [x])
    node.function, node.saved["x"] = function, SavedVariable(x)
    result.grad_fn = node
    return result
