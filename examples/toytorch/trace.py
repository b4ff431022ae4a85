"""A trace of operators, and the program that it becomes (fx/experimental/proxy_tensor.py, _inductor/scheduler.py)."""

from collections import Counter

import numpy as np

from ._tensor import TORCH_CHECK, Tensor, float32
from .dispatch import DispatchKeySet, Operator, aten, tls
from .ops import IMPL, POINTWISE

VIEWS = {"t": np.transpose, "expand": np.broadcast_to, "view": np.reshape}
SCOPE = {**IMPL, **VIEWS, "np": np, "inf": np.inf, "nan": np.nan}  # what a program names; np, inf, nan in numbers
Operator.fallbacks["Python"] = lambda op, keys, *args: tls.modes[-1].__torch_dispatch__(op, args)


class ProxyMode:
    """While it is on, operators below autograd are written down. They run on tensors without data, called fakes."""

    def __init__(self, fakes):
        self.names, self.nodes = {}, []  # a node is (name of the result, operator, arguments as text)
        self.inputs = [self.name(x) for x in fakes]

    def name(self, x):
        self.names[x] = f"a{len(self.names)}"
        return self.names[x]

    def __enter__(self):
        tls.modes.append(self)
        tls.included |= DispatchKeySet("Python")
        return self

    def __exit__(self, *error):
        tls.modes.pop()
        tls.included -= DispatchKeySet("Python")

    def __torch_dispatch__(self, op, args):
        same = op in (aten.detach, aten.clone)
        supported = (same or op.short in SCOPE) and not op.inplace
        known = all(arg in self.names and arg.dtype == float32 for arg in args if isinstance(arg, Tensor))
        TORCH_CHECK(supported and known, f"toytorch does not compile {op.short} here", NotImplementedError)
        out = op.redispatch(DispatchKeySet("Meta"), *args)  # computes sizes alone
        if same:  # the name of the input, because its elements stay as they are: a trace has no writes
            self.names[out] = self.names[args[0]]
        else:
            args = (args[0], out.shape) if op is aten.expand else args  # NumPy knows no -1 here
            texts = [self.names[arg] if isinstance(arg, Tensor) else repr(arg) for arg in args]
            self.nodes.append((self.name(out), op.short, texts))
        return out


def program(nodes, inputs, outputs):
    """A program in NumPy. A pointwise operator whose result is used once stands where it is used: relu(add(a, b))."""
    uses = Counter([*outputs, *(arg for _, _, args in nodes for arg in args)])
    inlined, lines = {}, []  # name -> what stands in its place; the other nodes

    def joined(args):
        return ", ".join(inlined.get(arg, arg) for arg in args)

    for name, op, args in nodes:
        value = f"{op}({joined(args)})"
        if op in POINTWISE and uses[name] == 1 and len(value) < 100:  # Python reads 200 nested parentheses at most
            inlined[name] = value
        else:
            lines.append(f"{name} = {value}")
    code = "\n    ".join([f"def program({', '.join(inputs)}):", *lines, f"return [{joined(outputs)}]"])
    scope = dict(SCOPE)
    exec(code, scope)
    return code, np.errstate(all="ignore")(scope["program"])
