"""A tensor is a way to read bytes, and a view reads the same bytes in another way."""

# --8<-- [start:program]
import textwrap

import toytorch as torch

x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
y = x.t()
print("strides", x.stride(), y.stride())
y.mul_(10)
print(x)
print("versions", x._version, y._version)
try:
    y.view(6)
except RuntimeError as error:
    print(*textwrap.wrap(str(error), 76), sep="\n")
assert x.untyped_storage() is y.untyped_storage()
# --8<-- [end:program]
