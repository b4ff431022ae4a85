"""A graph as a Python program, where pointwise neighbors share arrays (torch/_inductor/scheduler.py)."""

import math

from . import storage
from ._tensor import Tensor
from .dispatch import aten
from .factories import from_array
from .pointwise import POINTWISE

SCOPE = {"torch": storage, "inf": math.inf, "nan": math.nan, "aten": aten, "from_array": from_array, **POINTWISE}


def key(x):
    """What tells tensors apart in a trace: a saved output or an alias is the tensor itself."""
    return id(x.storage), x.offset, x.shape, x.strides, x.dtype


def generate(mode, nodes, inputs, outputs):
    """Python source. t1 is a tensor and a1 its elements; what is pointwise makes and takes elements only."""
    names = [mode.names[key(x)] for x in inputs]
    lines, known = [f"def program({', '.join(names)}):"], set(names)

    def read(x, kind):
        """A name for the tensor (t) or the elements (a), which the other is made into where it must be."""
        if not isinstance(x, Tensor):
            return repr(x)
        tensor = mode.names[key(x)]
        elements = tensor.replace("t", "a")
        if kind == "a" and elements not in known:
            lines.append(f"    {elements} = {tensor}.array()")
        if kind == "t" and tensor not in known:
            lines.append(f"    {tensor} = from_array({elements}, {x.dtype})")
        known.update({elements} if kind == "a" else {tensor})
        return elements if kind == "a" else tensor

    for out, op, args in nodes:
        kind = "a" if op in POINTWISE else "t"
        values, name = ", ".join([read(arg, kind) for arg in args]), mode.names[key(out)].replace("t", kind)
        call = f"{op}({values}).astype('{out.dtype.name}')" if kind == "a" else f"aten.{op}({values})"
        lines.append(f"    {name} = {call}")
        known.add(name)
    result = ", ".join([read(x, "t") for x in outputs])
    return "\n".join([*lines, f"    return [{result}]"])


def load(code):
    exec(code, scope := dict(SCOPE))
    return scope["program"]
