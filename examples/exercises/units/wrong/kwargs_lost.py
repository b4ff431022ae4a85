# says: has to pass kwargs on
"""Drops kwargs."""

import torch

KEEP = ("sum", "mean", "neg", "clone", "detach", "view", "reshape", "transpose")
PAIRS = {"mul": 1, "div": -1, "add": 0, "sub": 0}


class Quantity(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        name = func.__name__
        unit = None
        if name in PAIRS:
            unit = combined(name, *(unit_of(a) for a in args[:2]))
        elif name in (*KEEP, "__getitem__"):
            unit = unit_of(args[0])
        with torch._C.DisableTorchFunctionSubclass():
            out = func(*args)
            return out if unit is None else quantity(out, **unit)


def unit_of(x):
    return x.unit if isinstance(x, Quantity) else {}


def combined(name, left, right):
    if not PAIRS[name]:
        if left != right:
            raise ValueError(f"{name} of {left} and {right}")
        return left
    unit = dict(left)
    for base, exponent in right.items():
        unit[base] = unit.get(base, 0) + PAIRS[name] * exponent
    return {base: exponent for base, exponent in unit.items() if exponent}


def quantity(x, **unit):
    x = x.as_subclass(Quantity)
    x.unit = unit
    return x
