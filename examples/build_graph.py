"""Kernels of autograd leave a graph of nodes, each with a number and the tensors that it saved."""

# --8<-- [start:program]
import toytorch as torch
from toytorch.derivatives import DERIVATIVES

x = torch.tensor([[1.0, 2.0]])
w = torch.tensor([[3.0], [4.0]], requires_grad=True)
loss = (x @ w).exp().sum()
node = loss.grad_fn
while node.next_functions:
    print(node.sequence_nr, node.name(), *node.saved)
    node = next(after for after in node.next_functions if after)
print(node.name(), "of w:", node.variable is w)
for line in DERIVATIVES.splitlines():
    if line.startswith(("sum:", "exp:", "mm:")):
        print(line)
assert not x.requires_grad
# --8<-- [end:program]
