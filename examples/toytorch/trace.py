"""A trace of operators, and the program that it becomes (fx/experimental/proxy_tensor.py, _inductor/scheduler.py)."""

from collections import Counter

import numpy as np

from ._tensor import TORCH_CHECK, Tensor, float32
from .dispatch import Operator, aten, key_set, tls
from .factories import empty
from .ops import IMPL, POINTWISE

SCOPE = {**IMPL, "t": np.transpose, "expand": np.broadcast_to, "view": np.reshape, "inf": np.inf, "nan": np.nan}
Operator.fallbacks["Python"] = lambda op, keys, *args: tls.modes[-1].__torch_dispatch__(op, args)


class ProxyMode:
    """While it is on, operators below autograd are written down, and run on fakes: tensors without data."""

    def __init__(self, inputs):
        self.names = {x: f"a{i}" for i, x in enumerate(inputs)}
        self.fakes = {x: Tensor(empty(x.shape, x.dtype, "meta").storage, x.dtype, x.shape, x.strides) for x in inputs}
        self.nodes = []  # (result, operator, arguments)

    def __enter__(self):
        tls.modes.append(self)
        tls.included |= key_set("Python")
        return self

    def __exit__(self, *error):
        tls.modes.pop()
        tls.included -= key_set("Python")

    def __torch_dispatch__(self, op, args):
        name, tensors = op.name[6:], [arg for arg in args if isinstance(arg, Tensor)]
        fakes = [self.fakes.get(arg, arg) if isinstance(arg, Tensor) else arg for arg in args]
        out = op.redispatch(key_set("Meta" if tensors else "BackendSelect"), *fakes)
        if op in (aten.detach, aten.clone):  # nothing is written to, so this is the same tensor
            self.names[out] = self.names[args[0]]
            return out
        known = name in SCOPE and all(x in self.names and x.dtype == float32 for x in tensors)
        TORCH_CHECK(known, f"toytorch does not compile {name} of these tensors", NotImplementedError)
        self.names[out] = f"a{len(self.names)}"
        self.nodes.append((out, name, args))
        return out

    def program(self, nodes, inputs, outputs):
        """A program in NumPy. A pointwise operator whose result is needed once stands where it is needed."""
        read = lambda x: text[self.names[x]] if isinstance(x, Tensor) else repr(x)  # noqa: E731
        text, lines = {self.names[x]: self.names[x] for x in inputs}, []
        read_by = [*outputs, *(x for _, _, args in nodes for x in args)]
        needed = Counter(self.names[x] for x in read_by if isinstance(x, Tensor))
        for out, op, args in nodes:
            name, value = self.names[out], f"{op}({', '.join(map(read, args))})"
            if op in POINTWISE and needed[name] == 1 and len(value) < 100:
                text[name] = value
            else:
                text[name] = name
                lines.append(f"{name} = {value}")
        head = f"def program({', '.join(map(read, inputs))}):"
        code = "\n    ".join([head, *lines, f"return [{', '.join(map(read, outputs))}]"])
        exec(code, scope := dict(SCOPE))
        return code, scope["program"]
