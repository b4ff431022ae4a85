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
        return self.names.setdefault(x, f"a{len({*self.names.values()})}")

    def __enter__(self):
        tls.modes.append(self)
        tls.included |= DispatchKeySet("Python")
        return self

    def __exit__(self, *error):
        tls.modes.pop()
        tls.included -= DispatchKeySet("Python")

    def __torch_dispatch__(self, op, args):
        supported = op in (aten.detach, aten.clone) or (op.short in SCOPE and not op.inplace)
        known = all(arg in self.names and arg.dtype == float32 for arg in args if isinstance(arg, Tensor))
        TORCH_CHECK(supported and known, f"toytorch does not compile {op.short} here", NotImplementedError)
        out = op.redispatch(DispatchKeySet("Meta"), *args)  # computes sizes alone
        if op in (aten.detach, aten.clone):  # its elements are those of the input, and a trace has no writes
            self.names[out] = self.names[args[0]]
            return out
        args = (args[0], out.shape) if op is aten.expand else args  # NumPy's broadcast_to knows no -1
        texts = [self.names[arg] if isinstance(arg, Tensor) else repr(arg) for arg in args]
        self.nodes.append((self.name(out), op.short, texts))
        return out


def what_backward_reads(forward_nodes, backward_nodes):  # names; a view of forward is made again in backward
    reads = {text for _, _, texts in backward_nodes for text in texts}
    for name, op, texts in reversed(forward_nodes):
        if op in VIEWS and name in reads:  # to save what it is a view of, which has the version that a write changes
            backward_nodes.insert(0, (name, op, texts))
            reads = (reads - {name}) | set(texts)
    return reads


def program(nodes, input_names, outputs):
    """A program in NumPy. A pointwise operator whose result is used once stands where it is used. For relu(x @ w):
    nodes [("a2", "mm", ["a0", "a1"]), ("a3", "relu", ["a2"])], outputs a3, and a3 again for backward, make
    def program(a0, a1): a2 = mm(a0, a1); a3 = relu(a2); return [a3, a3]
    and for backward def program(a4, a0, a3): a6 = t(a0); a7 = mm(a6, threshold_backward(a4, a3, 0)); return [None, a7]
    """
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
