"""The figure of one call from Python down to the kernels and of its way back, recorded while both run."""

from itertools import pairwise
from pathlib import PurePosixPath

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from .checks import checked
from .drawing import arrow_down, arrow_head, figure, group, path, stage, text
from .keys import ENTRY, _keys
from .layout import MARGIN, code_width

LINE, GAP = 15, 24  # from one line of text in a box to the next, between two boxes
APART = 42  # between the way down and the way up
SHOWN = ("AutogradCPU", "ADInplaceOrView", "CPU")


class _Calls(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(func.__name__)
        return func(*args, **(kwargs or {}))


class _Operators(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


def call_path(f, *inputs: torch.Tensor, title: str) -> str:
    """`f(*inputs)`, one call of torch from Python, as a stack: the function called, what its last operator has
    registered for each key that the call passes, and beside it the way back: the node that was left, and the operators
    that the node runs. A key without a kernel has a pale border.

    Raises TypeError for inputs that are no tensors, ValueError for more or less than one call, for a result without a
    node, and where the dispatcher has another order of keys than the figure draws."""
    inputs = [checked(one, torch.Tensor, "each of the inputs") for one in inputs]
    with _Calls() as calls, _Operators() as down:
        y = f(*inputs)
    if len(calls.seen) != 1 or not down.seen:
        raise ValueError(f"one call of torch is drawn, and f makes {calls.seen}")
    if not (isinstance(y, torch.Tensor) and y.grad_fn):
        raise ValueError("f must return a tensor with a node")
    wanted = [one for one in inputs if one.requires_grad]
    with _Operators() as up:
        torch.autograd.grad(y, wanted, torch.ones_like(y))
    registered = _registered(down.seen[-1], next(one for one in inputs if one.requires_grad))
    back = [str(one.overloadpacket) for one in up.seen if one.overloadpacket is not torch.ops.aten.ones_like]
    down = [("Python", calls.seen), *registered]
    node = [("Python", ["backward()"]), ("node", [y.grad_fn.name()]), (), ("operators", list(dict.fromkeys(back)))]
    rows = [[name, " ".join(said), " ".join(up[1]) if up else ""] for (name, said), up in zip(down, node)]
    desc = "Down: " + "; ".join(f"{name}: {said}" for name, said, _ in rows) + ". "
    desc += "Back: " + "; ".join(f"{box[0]}: {' '.join(box[1])}" for box in node if box) + "."
    return figure(*_draw(down, node), title, desc, ["layer", "on the way down", "on the way back"], rows)


def _registered(operator, tensor: torch.Tensor) -> list:
    """For each key that is drawn the operator's name and the file of its kernel, or that it falls through."""
    keys = [key for key, excluded in _keys(tensor) if not excluded and key in SHOWN]
    if keys != [key for key in SHOWN if key in keys] or {"AutogradCPU", "CPU"} - set(keys):
        raise ValueError(f"the figure draws {SHOWN}, and this call has {keys}")
    table = torch._C._dispatch_dump_table(operator.name())
    entries = {entry["key"]: entry for entry in ENTRY.finditer(table)}
    packet = str(operator.overloadpacket)
    kernels = {key: [packet, PurePosixPath(entries[key]["file"]).name] for key in SHOWN}
    return [(key, ["falls through"] if entries[key]["falls"] else kernels[key]) for key in SHOWN]


def _draw(down: list, back: list) -> tuple:
    """The shapes of two stacks of boxes, (name, lines) or nothing, and their width and height."""
    wide = [max(code_width(said, 13) for one in way if one for said in (one[0], *one[1])) + 14 for way in (down, back)]
    middles = MARGIN + wide[0] / 2, MARGIN + wide[0] + APART + wide[1] / 2
    boxes, edges, y = [], [], MARGIN
    for pair in zip(down, back):
        height = 24 + LINE * max(len(one[1]) for one in pair if one)
        for one, middle, width in zip(pair, middles, wide):
            boxes += (
                stage(middle, y, width, height, *one, "it-tab" if "falls through" in one[1] else "it-pill")
                if one
                else []
            )
        edges.append((y, y + height))
        y += height + GAP
    ways = [arrow_down(middles[0], low + 1, top) for (_, low), (top, _) in pairwise(edges)]
    (_, start), (node, end), _, (last, _) = edges
    x, y_left = MARGIN + wide[0], (node + end) / 2
    up = [path("M", x + 3, y_left, "H", x + APART - 8), arrow_head(x + APART - 2, y_left, "right")]
    up += [*arrow_down(middles[1], start + 1, node), *arrow_down(middles[1], end + 1, last)]
    up += [text(x + APART / 2, y_left - 6, "leaves", "it-index", "middle")]
    width = MARGIN * 2 + sum(wide) + APART
    return [group("it-1", *(one for way in ways for one in way)), group("it-2", *up), *boxes], width, y - GAP + MARGIN
