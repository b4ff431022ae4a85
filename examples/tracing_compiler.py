"""A compiler can record one run, guard what it took for granted, and fuse what is left into few loops."""

import functools
import inspect

import torch


# --8<-- [start:tracer]
class Traced:
    """Stands for a tensor while the function runs once."""

    def __init__(self, trace, name):
        self.trace, self.name = trace, name

    @property
    def shape(self):
        name, shape = self.trace.first
        self.trace.guards.append(f"{name}.shape == {tuple(shape)}")
        return shape

    def __bool__(self):
        raise TypeError(f"{self.name} has no value while we trace")

    def __getattr__(self, method):
        return functools.partial(getattr(torch, method), self)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        trace = next(a.trace for a in args if isinstance(a, Traced))
        operands = [a.name if isinstance(a, Traced) else repr(a) for a in args]
        trace.nodes.append((f"t{len(trace.nodes)}", func.__name__, operands))
        return Traced(trace, trace.nodes[-1][0])

    __add__ = __radd__ = lambda a, b: torch.add(a, b)
    __mul__ = __rmul__ = lambda a, b: torch.mul(a, b)


class Trace:
    """The operations of one run, and what must hold for them to be right again."""

    def __init__(self, f, named):
        tensors = {name: a for name, a in named.items() if isinstance(a, torch.Tensor)}
        self.nodes, self.inputs, self.first = [], list(tensors), next((k, t.shape) for k, t in tensors.items())
        self.guards = [f"{k} == {a!r}" for k, a in named.items() if k not in tensors]
        self.guards += [f"{k}.dtype == {t.dtype}" for k, t in tensors.items()]
        self.guards += [f"{k}.shape == {self.first[0]}.shape" for k in self.inputs[1:]]
        self.result = f(**{k: Traced(self, k) if k in tensors else a for k, a in named.items()}).name
        # --8<-- [end:tracer]


# --8<-- [start:codegen]
POINTWISE = {"add": "{} + {}", "mul": "{} * {}", "relu": "max({}, 0.0)", "sin": "math.sin({})"}


def generate(trace):
    """Python source: one loop, and another whenever an operation needs a sum that is not finished."""
    loops = [[]]
    for node in trace.nodes:
        if {name for name, op, _ in loops[-1] if op == "sum"} & set(node[2]):
            loops.append([])
        loops[-1].append(node)
    lines, stored = ["import math", f"def program(n, {', '.join(trace.inputs)}):"], set(trace.inputs)
    for number, loop in enumerate(loops):
        sums = [name for name, op, _ in loop if op == "sum"]
        inside = [name for name, op, _ in loop if op != "sum"]
        later = {operand for after in loops[number + 1 :] for _, _, operands in after for operand in operands}
        kept = [name for name in inside if name in later or name == trace.result]
        lines += [f"    {name} = 0.0" for name in sums] + [f"    {name} = [0.0] * n" for name in kept]
        lines += ["    for i in range(n):"]
        read = {name: f"{name}[i]" for name in stored} | {name: f"{name}_i" for name in inside}
        for name, op, operands in loop:
            if read.keys().isdisjoint(operands):
                raise TypeError(f"{op} of {operands} computes no element")
            values = [read.get(operand, operand) for operand in operands]
            does = f"{name} += {values[0]}" if op == "sum" else f"{name}_i = {POINTWISE[op].format(*values)}"
            lines.append("        " + does)
        lines += [f"        {name}[i] = {name}_i" for name in kept]
        stored |= set(kept)
    return "\n".join([*lines, f"    return {trace.result}"])
    # --8<-- [end:codegen]


# --8<-- [start:compiled]
class Compiled:
    def __init__(self, f):
        self.f, self.entries = f, []

    def __call__(self, *args):
        named = dict(zip(inspect.signature(self.f).parameters, args))
        holds = lambda guards: all(eval(guard, {"torch": torch}, named) for guard in guards)  # noqa: E731
        program = next((program for guards, _, program in self.entries if holds(guards)), None)
        if program is None:
            trace, scope = Trace(self.f, named), {}
            exec(source := generate(trace), scope)
            program = scope["program"]
            self.entries.insert(0, (trace.guards, source, program))
        x, *others = (a for a in args if isinstance(a, torch.Tensor))
        out = torch.tensor(program(x.numel(), *(t.flatten().tolist() for t in (x, *others))), dtype=x.dtype)
        return out.view_as(x) if out.dim() else out
        # --8<-- [end:compiled]


# --8<-- [start:compare]
def f(x, y, n):
    z = torch.relu(x * y + n)
    z = z * z.sum() if x.shape[0] > 2 else z.sin()
    return (z + y).sum() if n > 1 else z + 1


compiled = Compiled(f)
torch.manual_seed(0)
for rows, n in [(2, 1), (2, 1), (3, 1), (4, 2), (2, 2), (3, 1)]:
    x, y = torch.randn(2, rows, 5, dtype=torch.float64)
    torch.testing.assert_close(compiled(x, y, n), f(x, y, n))
loops = [source.count("for ") for _, source, _ in reversed(compiled.entries)]
assert loops == [1, 2, 2, 1]
print(f"6 calls as in torch, {len(loops)} recordings, loops in each: {loops}")
# --8<-- [end:compare]
