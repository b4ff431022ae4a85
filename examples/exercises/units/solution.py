"""func's name selects the rule of the unit; torch computes with the handler of the class switched off."""

import torch

KEEP = ("sum", "mean", "neg", "clone", "detach", "view", "reshape", "transpose")
SIGNS = {"mul": 1, "div": -1}


class Quantity(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        name = func.__name__
        unit = None
        if name in ("add", "sub", *SIGNS):
            unit = combined(name, *(unit_of(a) for a in args[:2]))
        elif name in (*KEEP, "__getitem__"):
            unit = unit_of(args[0])
        with torch._C.DisableTorchFunctionSubclass():
            out = func(*args, **(kwargs or {}))
            return out if unit is None else quantity(out, **unit)


def unit_of(x):
    return x.unit if isinstance(x, Quantity) else {}


def combined(name, left, right):
    if name in ("add", "sub"):
        if left != right:
            raise ValueError(f"{name} of {left} and {right}")
        return left
    unit = dict(left)
    for base, exponent in right.items():
        unit[base] = unit.get(base, 0) + SIGNS[name] * exponent
    return {base: exponent for base, exponent in unit.items() if exponent}


def quantity(x, **unit):
    x = x.as_subclass(Quantity)
    x.unit = unit  # a dict of its own: ** makes a new one
    return x
