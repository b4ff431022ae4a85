"""A trace of operators, and the Python program that it becomes: pointwise neighbors share arrays
(torch/fx/experimental/proxy_tensor.py, torch/_inductor/scheduler.py)."""

from types import SimpleNamespace

from ._tensor import Size, Tensor
from .dispatch import Operator, aten, key_set, tls
from .factories import tensor
from .ops import POINTWISE
from .storage import DTYPES, TORCH_CHECK, UntypedStorage

TORCH = SimpleNamespace(Size=Size, **{dtype.name: dtype for dtype in DTYPES})
SCOPE = {"torch": TORCH, "aten": aten, "tensor": tensor, "inf": float("inf"), "nan": float("nan"), **POINTWISE}
Operator.fallbacks["Python"] = lambda op, keys, *args: tls.modes[-1].__torch_dispatch__(op, args)


def key(x):
    """What tells tensors apart in a trace: a saved output or an alias is the tensor itself."""
    return id(x.storage), x.offset, x.shape, x.strides


def fake(x):
    """On meta: it has no data, and its storage is its own."""
    return Tensor(UntypedStorage(0, "meta"), x.dtype, x.shape, x.strides, x.offset).requires_grad_(x.requires_grad)


class ProxyMode:
    """While it is on, operators below autograd are recorded, and run with fakes."""

    def __init__(self, inputs):
        self.fakes, self.nodes = {key(x): x if x.device == "meta" else fake(x) for x in inputs}, []
        self.names = {key(one): f"t{i}" for i, x in enumerate(inputs) for one in (x, self.fakes[key(x)])}

    def __enter__(self):
        tls.modes.append(self)
        tls.included |= key_set("Python")

    def __exit__(self, *error):
        tls.modes.pop()
        tls.included -= key_set("Python")

    def __torch_dispatch__(self, op, args):
        tensors = [arg for arg in args if isinstance(arg, Tensor)]
        known = not op.name.endswith("_") and all(key(x) in self.names for x in tensors)
        TORCH_CHECK(known, f"{op.name} writes to a tensor, or reads one that is no input", NotImplementedError)
        fakes = [self.fakes.get(key(arg), arg) if isinstance(arg, Tensor) else arg for arg in args]
        keys = key_set("Meta" if tensors else "BackendSelect")
        out = op.redispatch(keys, *("meta" if isinstance(arg, str) and arg == "cpu" else arg for arg in fakes))
        if key(out) not in self.names:
            self.names[key(out)] = f"t{len(self.names)}"
            args = ["cpu" if isinstance(arg, str) and arg == "meta" else arg for arg in args]
            self.nodes.append((out, op.name[6:], args))
        return out

    def generate(self, nodes, inputs, outputs):
        """Python source. t1 is a tensor and a1 its elements; what is pointwise makes and takes elements only."""
        known = {self.names[key(x)] for x in inputs}
        lines = [f"def program({', '.join(self.names[key(x)] for x in inputs)}):"]

        def read(x, kind):
            """A name for the tensor (t) or the elements (a), which the other is made into where it must be."""
            if not isinstance(x, Tensor):
                return repr(x)
            number = self.names[key(x)][1:]
            if kind + number not in known:
                made = f"t{number}.array()" if kind == "a" else f"tensor(a{number})"
                lines.append(f"    {kind}{number} = {made}")
                known.add(kind + number)
            return kind + number

        for out, op, args in nodes:
            floats = all(x.dtype.is_floating_point for x in [out, *args] if isinstance(x, Tensor))
            kind = "a" if op in POINTWISE and floats else "t"
            values, name = ", ".join([read(arg, kind) for arg in args]), kind + self.names[key(out)][1:]
            lines.append(f"    {name} = {'aten.' * (kind == 't')}{op}({values})")
            known.add(name)
        result = ", ".join([read(x, "t") for x in outputs])
        return "\n".join([*lines, f"    return [{result}]"])


def load(code):
    exec(code, scope := dict(SCOPE))
    return scope["program"]
