"""A compiled function is a Python program, made from a trace and used while its guards hold."""

# --8<-- [start:program]
import toytorch as torch
from toytorch.dispatch import Operator

kernels, redispatch = [], Operator.redispatch


def counted(op, keys, *args):
    kernels.append(op)
    return redispatch(op, keys, *args)


Operator.redispatch = counted


# ---
def f(x, n):
    return (x * n + 1).relu().exp().sum()


compiled = torch.compile(f)
x = torch.tensor([0.5, -3.0], requires_grad=True)
for n in (2, 2, 3):
    compiled(x, n).backward()
guards, program = compiled.cache_entries[0]
print(program.code)
print(program.backward_code)
print(len(guards), "guards; failed:", *compiled.recompiles)
for name, function in {"f": f, "compiled": compiled}.items():
    kernels.clear()
    function(x, 2)
    print(name, "ran", len(kernels), "kernels")
assert len(compiled.cache_entries) == 2
# --8<-- [end:program]
