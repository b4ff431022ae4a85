"""The engine runs a node when all its gradients have come, and of the nodes that are ready the newest."""

# --8<-- [start:program]
import toytorch as torch
from toytorch.derivatives import FunctionNode

apply = FunctionNode.apply


def told(node, grad):
    print(node.name(), grad)
    return apply(node, grad)


FunctionNode.apply = told
x = torch.tensor([2.0, 3.0], requires_grad=True)
y = x * x
loss = (y * y + x).sum()
loss.backward()
print("x.grad", x.grad)
assert x.grad.numpy().tolist() == [33, 109]
# --8<-- [end:program]
