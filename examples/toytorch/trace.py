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
        self.names, self.nodes = {}, []  # fake -> name; (name of the result, operator, arguments as texts)
        self.input_names = [self.name(x) for x in fakes]

    def name(self, x):
        return self.names.setdefault(x, f"a{len(self.names)}")  # with gaps, as fakes that share a name count

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


def program(nodes, input_names, outputs):
    """A program in NumPy. A pointwise operator whose result is used once stands where it is used. For relu(x @ w):
    def program(a0, a1): a2 = mm(a0, a1); a3 = relu(a2); return [a3, a3]  (the second a3 is for backward)
    def program(a6, a0, a3): a8 = t(a0); a9 = mm(a8, threshold_backward(a6, a3, 0)); return [None, a9]  (backward)"""
    uses = Counter([*outputs, *(text for _, _, texts in nodes for text in texts)])
    inlined, lines = {}, []  # name -> what stands in its place; the other nodes

    def joined(texts):
        return ", ".join(inlined.get(text, text) for text in texts)

    for name, op, texts in nodes:
        value = f"{op}({joined(texts)})"
        if op in POINTWISE and uses[name] == 1 and len(value) < 100:  # Python reads 200 nested parentheses at most
            inlined[name] = value
        else:
            lines.append(f"{name} = {value}")
    code = "\n    ".join([f"def program({', '.join(input_names)}):", *lines, f"return [{joined(outputs)}]"])
    exec(code, scope := dict(SCOPE))
    return code, np.errstate(all="ignore")(scope["program"])
