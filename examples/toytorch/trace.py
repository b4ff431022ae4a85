"""A trace of operators, and the program that it becomes (fx/experimental/proxy_tensor.py, _inductor/scheduler.py)."""

from collections import Counter

import numpy as np

from ._tensor import TORCH_CHECK, Tensor, float32
from .dispatch import DispatchKeySet, Operator, aten, tls
from .ops import IMPL, POINTWISE

SCOPE = {**IMPL, "t": np.transpose, "expand": np.broadcast_to, "view": np.reshape, "inf": np.inf, "nan": np.nan}
Operator.fallbacks["Python"] = lambda op, keys, *args: tls.modes[-1].__torch_dispatch__(op, args)


class ProxyMode:
    """While it is on, operators below autograd are written down. They run on tensors without data, called fakes."""

    def __init__(self, fakes):
        self.names, self.nodes = {}, []  # a node is (name of the result, operator, arguments as text)
        self.inputs = [self.name(x) for x in fakes]

    def name(self, x):
        return self.names.setdefault(x, f"a{len(set(self.names.values()))}")

    def __enter__(self):
        tls.modes.append(self)
        tls.included |= DispatchKeySet("Python")
        return self

    def __exit__(self, *error):
        tls.modes.pop()
        tls.included -= DispatchKeySet("Python")

    def __torch_dispatch__(self, op, args):
        same = op in (aten.detach, aten.clone)  # a result with the name of its input, because nothing is written to
        tensors = [arg for arg in args if isinstance(arg, Tensor)]
        known = (same or op.short in SCOPE) and all(x in self.names and x.dtype == float32 for x in tensors)
        TORCH_CHECK(known and not op.inplace, f"toytorch does not compile {op.short} here", NotImplementedError)
        out = op.redispatch(DispatchKeySet("Meta"), *args)
        if same:
            self.names[out] = self.names[args[0]]
        else:
            texts = [self.names[arg] if isinstance(arg, Tensor) else repr(arg) for arg in args]
            self.nodes.append((self.name(out), op.short, texts))
        return out


def program(nodes, inputs, outputs):
    """A program in NumPy. A pointwise operator whose result is needed once stands where it is needed."""
    needed = Counter([*outputs, *(arg for _, _, args in nodes for arg in args)])
    text, lines = {}, []
    for name, op, args in nodes:
        value = f"{op}({', '.join(text.get(arg, arg) for arg in args)})"
        if op in POINTWISE and needed[name] == 1 and len(value) < 100:
            text[name] = value
        else:
            lines.append(f"{name} = {value}")
    returned = ", ".join(text.get(name, name) for name in outputs)
    code = "\n    ".join([f"def program({', '.join(inputs)}):", *lines, f"return [{returned}]"])
    exec(code, scope := dict(SCOPE))
    return code, scope["program"]
