"""A compiled function is a Python program, made from a trace and used while its guards hold."""

# --8<-- [start:program]
import toytorch as torch


def f(x, n):
    return (x * n + 1).relu().exp().sum()


compiled = torch.compile(f)
x = torch.tensor([0.5, -3.0], requires_grad=True)
for n in (2, 2, 3):
    compiled(x, n).backward()
guards, program = compiled.cache_entries[0]
print(program.code)
print(program.backward_code)
print(len(guards), "guards; recompiled because", *compiled.recompiles)
assert len(compiled.cache_entries) == 2
# --8<-- [end:program]
