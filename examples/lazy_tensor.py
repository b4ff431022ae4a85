"""A graph break needs no bytecode: record until Python asks for a value, run what was recorded, go on."""

import torch

# --8<-- [start:lazy]
graphs, pending = [], []


class Lazy:
    """A tensor, or the promise of one."""

    def __init__(self, value=None):
        self.value = value

    def __getattr__(self, op):
        def record(*args):
            out = Lazy()
            pending.append((out, op, self, args))
            return out

        return record

    def __bool__(self):
        return bool(force(self))


def force(lazy):
    """Run all that is pending as one graph; return the value of `lazy`."""
    if pending:
        graphs.append([op for _, op, _, _ in pending])
        for out, op, x, args in pending:
            out.value = getattr(x.value, op)(*args)
        pending.clear()
    return lazy.value
    # --8<-- [end:lazy]


# --8<-- [start:compare]
def f(x):
    y = x.add(1).mul(2)
    if y.sum().gt(0):
        y = y.sub(5).abs()
    if y.max().gt(2):
        y = y.neg()
    return y.sin()


def backend(graph, inputs):
    captured.append([node.target for node in graph.graph.nodes if node.op == "call_method"])
    return graph


compiled = torch.compile(f, backend=backend)
for x in (torch.ones(3), -torch.ones(3), torch.arange(3.0)):
    graphs, pending, captured = [], [], []
    torch.compiler.reset()
    lazy = force(f(Lazy(x)))
    assert torch.equal(lazy, compiled(x)) and torch.equal(lazy, f(x))
    assert graphs == captured
    print(" | ".join(" ".join(graph) for graph in graphs))
# --8<-- [end:compare]
