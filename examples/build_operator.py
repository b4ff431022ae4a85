"""An operator is a name and a table of kernels, and the keys of a call pick one."""

# --8<-- [start:program]
import toytorch as torch
from toytorch.dispatch import ORDER, aten, library


@library("CompositeImplicitAutograd")
def square(self):
    return self * self


for op in (aten.square, aten.mul):
    entries = {key: op.entry(key) for key in reversed(ORDER)}
    print(op.name)
    for key, (registered, kernel) in entries.items():
        if kernel and kernel != "fallthrough":
            print(f"    {key:15} from {registered}")
x = torch.tensor([1.0, -2.0, 3.0])
print("keys of x:", *(key.name for key in sorted(x.key_set, reverse=True)))
print(square(x))
assert square(x).numpy().tolist() == [1, 4, 9]
# --8<-- [end:program]
