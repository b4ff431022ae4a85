"""A saved tensor remembers its version, so backward refuses numbers that were overwritten."""

# --8<-- [start:program]
import textwrap

import toytorch as torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
for name, y in {"w * 2": w * 2, "w.exp()": w.exp()}.items():
    loss = y.sum()
    y.add_(1)
    try:
        loss.backward()
        print(name, w.grad)
    except RuntimeError as error:
        print(name, *textwrap.wrap(str(error), 76), sep="\n")
assert y._version == 1
# --8<-- [end:program]
