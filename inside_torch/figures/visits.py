"""The figure of one call of an operator on its way from Python to the kernel that computes: at each visit to the
dispatcher the keys that it has, and the kernel that it picks."""

import warnings
from collections.abc import Callable
from itertools import pairwise

import torch
from torch.library import Library

from inside_torch.drawing.layout import CELL, MARGIN, READ, code_width, widest
from inside_torch.drawing.svg import arrow_down, rect, text

from .boxes import LINE, Box, Place, laid_out
from .keys import entries, registered
from .noted import put_before
from .ran import ABOVE, BACKENDS

GAP = 22  # px between two stops


def dispatcher_visits(call: Callable, operator: str, said: str, *, title: str) -> str:
    """`call()`, which is written as `said` and calls `operator` (`addmm`) once from Python, from top to bottom: the
    call, and for each kernel of the operator that runs the keys with which it is called, the highest on the left and
    filled, and below them the kernel: its file, the node that it leaves, and whether it calls the operator again. Other
    operators are left out, and so are keys that fall through.

    Raises ValueError where no kernel of the operator runs, or one does not start with its own key, and for names that
    do not fit."""
    ran, y = noted(call, operator)
    if not ran or any(keys[0] != key for key, keys in ran):
        raise ValueError(f"{operator} is not called, or not by its highest key: {ran}")
    files, node = registered(f"aten::{operator}"), getattr(y, "grad_fn", None)
    stops = [("Python", [said])]
    for i, (key, keys) in enumerate(ran):
        leaves = [f"leaves {node.name()}"] if node and key.startswith("Autograd") else []
        does = f"calls {operator} again" if i + 1 < len(ran) else f"returns {tuple(y.shape)}"
        stops += [("dispatcher", keys), ("kernel", [f"for {key}", files[key], *leaves, does])]
    desc = "From top to bottom: " + "; ".join(f"{name}: {', '.join(lines)}" for name, lines in stops) + "."
    rows = [[name, ", ".join(lines)] for name, lines in stops]
    columns = ["stop", "what is there, the highest key first"]
    return laid_out(title, desc, columns, rows, _draw, stops, kind="it-1 it-large")


def noted(call: Callable, operator: str) -> tuple:
    """The operator's kernels that run in a call as (key, keys with which it is called, the highest first), in their
    order; and what the call returns."""
    table = entries(f"aten::{operator}")
    kernels = [key for key in (*ABOVE, *BACKENDS) if key in table and not table[key]["falls"]]
    library, ran = Library("aten", "IMPL"), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a kernel is replaced, until the library is destroyed
        put_before(library, {operator: kernels}, lambda _, key, keyset, __: ran.append((key, highest_first(keyset))))
        try:
            y = call()
        finally:
            library._destroy()
    return ran, y


def highest_first(keys: torch._C.DispatchKeySet) -> list:
    """The names of the keys in a set."""
    return str(keys).partition("(")[2].rstrip(")").split(", ")[::-1]


def _draw(stops: list, _wide: bool) -> list:
    left = MARGIN + widest([name for name, _ in stops], READ) + 16
    room = max(_keys_width(lines) if name == "dispatcher" else widest(lines, READ) + 16 for name, lines in stops)
    shapes, places, y = [], [], MARGIN
    for name, lines in stops:
        keys = name == "dispatcher"
        place = Place(left, y, room, CELL if keys else LINE * len(lines) + 8)
        shapes.append(text(MARGIN, place.y + 17 if not keys else place.level + 4.5, name, "it-value it-note"))
        shapes += _keys(lines, place) if keys else Box(lines, bold=lines[0]).drawn(place)
        places.append(place)
        y = place.low + GAP
    arrows = [arrow_down(left + 24, above.low + 1, below.y) for above, below in pairwise(places)]
    return [*(one for way in arrows for one in way), *shapes]


def _keys_width(keys: list) -> float:
    return sum(code_width(key, READ) + 24 for key in keys)


def _keys(keys: list, place: Place) -> list:
    """A cell for each key, from the highest on; that one is filled."""
    shapes, x = [], place.x
    for i, key in enumerate(keys):
        width = code_width(key, READ) + 16
        kinds = ("it-cell", "it-edge") if i else ("it-element",)
        shapes += [rect(x, place.y, width, place.height, kind) for kind in kinds]
        shapes.append(text(x + width / 2, place.level + 4.5, key, "it-value" if i else "it-name", "middle"))
        x += width + 8
    return shapes
