"""The figure of one call from Python down to the kernels and of its way back, recorded while both run."""

import torch

from .drawing import arrow, arrow_down, figure, group, text
from .keys import keys_of, registered
from .layers import Calls, Operators, copied
from .layout import MARGIN, stages

APART = 42  # between the way down and the way up
SHOWN = ("AutogradCPU", "ADInplaceOrView", "CPU")


def call_path(f, *inputs: torch.Tensor, title: str) -> str:
    """`f(*inputs)`, one call of torch from Python, as a stack: the function called, what its last operator has
    registered for each key that the call passes, and beside it the way back: the node that was left, and the operators
    that the node runs. A key without a kernel has a pale border. Raises TypeError for inputs that are no tensors,
    ValueError for more or less than one call, for a result without a node, and where the dispatcher has another order
    of keys than the figure draws."""
    inputs = copied(inputs)
    with Calls(calls := []):
        y = f(*inputs)
    names = [name for name, _, operators in calls if operators]
    if len(calls) != 1 or not names:
        raise ValueError(f"one call of torch is drawn, and f makes {[name for name, *_ in calls]}")
    if not (isinstance(y, torch.Tensor) and y.grad_fn):
        raise ValueError("f must return a tensor with a node")
    wanted, ones = [one for one in inputs if one.requires_grad], torch.ones_like(y)
    with Operators(backward := []):
        torch.autograd.grad(y, wanted, ones)
    ran = list(dict.fromkeys(str(operator.overloadpacket) for operator in backward))
    down = [("Python", names, "it-pill"), *_registered(calls[0][2][-1], wanted[0])]
    back = [("Python", ["backward()"]), ("node", [y.grad_fn.name()]), None, ("operators", ran)]
    rows = [[name, " ".join(said), " ".join(up[1]) if up else ""] for (name, said, _), up in zip(down, back)]
    desc = "Down: " + "; ".join(f"{name}: {said}" for name, said, _ in rows) + ". "
    desc += "Back: " + "; ".join(f"{one[0]}: {' '.join(one[1])}" for one in back if one) + "."
    drawn = _draw(down, [one and (*one, "it-pill") for one in back])
    return figure(*drawn, title, desc, ["layer", "on the way down", "on the way back"], rows)


def _registered(operator, tensor: torch.Tensor) -> list:
    """A box for each key that is drawn: the operator's name and the file of its kernel, or that it falls through."""
    keys = [key for key, excluded in keys_of(tensor) if not excluded and key in SHOWN]
    if keys != [key for key in SHOWN if key in keys] or {"AutogradCPU", "CPU"} - set(keys):
        raise ValueError(f"the figure draws {SHOWN}, and this call has {keys}")
    files, name = registered(operator.name()), str(operator.overloadpacket)
    return [(k, [name, files[k]], "it-pill") if files[k] else (k, ["falls through"], "it-tab") for k in SHOWN]


def _draw(down: list, back: list) -> tuple:
    boxes, ways, ((_, x), (left, right)), edges = stages(list(zip(down, back)), MARGIN, APART, gap=24, pad=14)
    (_, start), (node, end), _, (last, bottom) = edges
    middle, y = (left + right) / 2, (node + end) / 2
    up = arrow(x + APART - 2, y, "right", "M", x + 3, y)
    up += [*arrow_down(middle, start + 1, node), *arrow_down(middle, end + 1, last)]
    up.append(text(x + APART / 2, y - 6, "leaves", "it-index", "middle"))
    return [group("it-1", *ways), group("it-2", *up), *boxes], right + MARGIN, bottom + MARGIN
