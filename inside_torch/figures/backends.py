"""The figure of one operator on two devices, side by side, drawn from the dispatcher's table: what both share is one
box."""

import re
from pathlib import PurePosixPath

import torch

from .checks import checked
from .drawing import arrow_down, figure, group, rect, text
from .keys import keys_of
from .layout import MARGIN, NARROW, ROOM

LINE, GAP = 17, 26  # from one line of text to the next, from one box to the next
ENTRY = re.compile(r"^(?P<key>\w+): (?P<falls>fallthrough )?registered at (?P<place>\S+:\d+) \[", re.M)


def two_paths(operator, x: torch.Tensor, y: torch.Tensor, *, title: str) -> str:
    """A call of `operator` (`torch.ops.aten.relu.default`) on x and on y, which are on different devices and require
    grad: a row for each key of the call that does not fall through, from the highest. A row where both calls run the
    same code is one box, filled; elsewhere each call has a box of its own. Autograd's row names the node that both
    calls leave. Raises TypeError for what is no tensor, ValueError where the two are on one device or need no gradient,
    where their keys are of different kinds, where a key has no kernel, and where the nodes differ."""
    both = [checked(one, torch.Tensor, "each of the two") for one in (x, y)]
    if x.device.type == y.device.type or not (x.requires_grad and y.requires_grad):
        raise ValueError("the figure compares tensors of two devices, both of which require grad")
    keys = [[key for key, excluded in keys_of(one) if not excluded] for one in both]
    if len(keys[0]) != len(keys[1]):
        raise ValueError(f"the calls have different kinds of keys: {keys[0]} and {keys[1]}")
    found = {one["key"]: one for one in ENTRY.finditer(torch._C._dispatch_dump_table(operator.name()))}
    if missing := [key for key in keys[0] + keys[1] if key not in found]:
        raise ValueError(f"{operator.name()} has no kernel for {missing[0]}")
    nodes = [operator(one).grad_fn.name() for one in both]
    if nodes[0] != nodes[1]:
        raise ValueError(f"the calls leave different nodes: {nodes[0]} and {nodes[1]}")
    rows = [["Python", "Python", f"torch.{operator.overloadpacket.__name__}", "shared"]]
    for pair in (pair for pair in zip(*keys) if not found[pair[0]]["falls"]):
        places = [found[key]["place"] for key in pair]
        said = [_code(place) for place in places]
        leaves = f", leaves {nodes[0]}" if pair[0].startswith("Autograd") else ""
        same = places[0] == places[1]
        rows.append([*pair, said[0] + leaves if same else " | ".join(said), "shared" if same else "its own"])
    heads = [one.device.type for one in both]
    desc = f"{operator.name()} on {heads[0]} and on {heads[1]}, from the top. "
    desc += " ".join(f"{left} and {right}: {code}, {kind}." for left, right, code, kind in rows)
    drawn = [_draw(rows, heads, width) for width in (min(ROOM, 560), NARROW)]
    columns = [f"key on {heads[0]}", f"key on {heads[1]}", "code", "is"]
    return figure(*drawn[0], title, desc, columns, rows, drawn[1])


def _code(place: str) -> str:
    """The C++ file where a kernel was registered, or that it is a function in Python."""
    file = PurePosixPath(place.rpartition(":")[0])
    return file.name if file.suffix == ".cpp" else "a Python function"


def _draw(rows: list, heads: list, whole) -> tuple:
    """The shapes, their width and height: two columns, as wide together as the boxes that span both."""
    half = (whole - 4 * MARGIN) / 2
    middles = [MARGIN + half / 2, MARGIN + whole - half / 2]
    shapes = [text(x, MARGIN + 12, f"on {head}", "it-name", "middle") for x, head in zip(middles, heads)]
    y = MARGIN + 22
    for i, (*keys, code, kind) in enumerate(rows):
        if i:
            shapes += [group("it-1", *arrow_down(x, y - GAP + 1, y)) for x in middles]
        lines = code.split(", ")
        if kind == "shared":
            names = [keys[0]] if keys[0] == keys[1] else keys
            shapes.append(group("it-2", *_box(MARGIN, y, whole, [], lines, "it-element")))
            ends = [middles[0] + 8, middles[1] - 8] if len(names) > 1 else [MARGIN + whole / 2]
            shapes += [text(x, y + 18, name, "it-name", "middle") for x, name in zip(ends, names)]
        else:
            for x, key, one in zip(middles, keys, code.split(" | ")):
                shapes += _box(x - half / 2, y, half, [key], [one], "it-pill")
        y += 12 + LINE * (1 + max(1, len(lines))) + GAP
    shapes.append(text(MARGIN, y - GAP + 22, "dashed: the same code for both", "it-value"))
    return [group("it-large", *shapes)], whole + 2 * MARGIN, y - GAP + 22 + 2 * MARGIN


def _box(x, y, width, names: list, lines: list, kind: str) -> list:
    """A box with a line for its name, written here or by the caller, and lines for the code."""
    around, middle = rect(x, y, width, 12 + LINE * (1 + len(lines)), kind, 4), x + width / 2
    said = [text(middle, y + 18, name, "it-name", "middle") for name in names]
    return [around, *said, *(text(middle, y + 18 + LINE * i, s, "it-value", "middle") for i, s in enumerate(lines, 1))]
