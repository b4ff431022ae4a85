"""The figure of collectives: which cells each rank holds before a call and after it, from the values of all ranks."""

from collections.abc import Callable
from itertools import chain

import torch
import torch.distributed as dist

from inside_torch.drawing.checks import checked
from inside_torch.drawing.layout import MARGIN, NARROW, ROOM, code_width
from inside_torch.drawing.svg import arrow, cell, group, rect, text

from .boxes import laid_out

WORLD, WIDTH, HIGH, TEXT = 3, 27, 26, 13  # ranks (one for each tone), width and height of a cell, size of the text
TENS = tuple(10**rank for rank in range(WORLD))  # what a rank multiplies 1, 2, 3 with
LEFT, BETWEEN, HEAD, BELOW = 14, 26, 24, 22  # room for a rank's number, for the arrow, for the name, under a grid


def collectives(calls: dict, *, title: str) -> str:
    """A panel for each call: three ranks as rows, the cells that a rank gave on the left, those it got on the right.

    `calls` maps the name of a call to how many cells each rank gives, one or three, and a function of the tensor of
    these cells. It returns the tensor of the cells that the rank got, or None where it wrote to its argument. Functions
    after it are called before it: the panel begins with what they left. Rank 0 gives 1, 2, 3; rank 1 gives 10, 20, 30;
    rank 2 gives 100, 200, 300. A cell has the tone of the rank whose value it holds, and none if it holds a sum over
    the ranks. The calls run in one process, where torch's private `LocalTensorMode` keeps a tensor for
    each rank. Raises TypeError for what is no pair of a number and a function,
    ValueError for another number of cells, for a value that is neither one that a rank gave nor the sum of a column,
    and for what is too wide; RuntimeError where a process group is open already."""
    if dist.is_initialized():
        raise RuntimeError("a process group is open already")
    for name, (cells, *steps) in checked(calls, dict, "calls").items():
        for step in steps:
            checked(step, Callable, name)
        if cells not in (1, WORLD):
            raise ValueError(f"{name}: a rank gives 1 or {WORLD} cells, got {cells}")
    dist.init_process_group("fake", rank=0, world_size=WORLD)
    try:
        held = {name: _held(*call) for name, call in calls.items()}
    finally:
        dist.destroy_process_group()
    for name, (before, after) in held.items():
        known = {(column + 1) * by for column in range(calls[name][0]) for by in (*TENS, sum(TENS))}
        if unknown := set(chain(*before, *after)) - known:
            raise ValueError(f"{name}: no rank gave {sorted(unknown)}, and no column adds up to it")
    rows = [
        [name, rank, ", ".join(map(str, before[rank])), ", ".join(map(str, after[rank]))]
        for name, (before, after) in held.items()
        for rank in range(WORLD)
    ]
    told = [f"{name}: " + "; ".join(f"rank {r} {b} to {a}" for n, r, b, a in rows if n == name) for name in held]
    desc = "The cells of each rank before and after. " + ". ".join(told) + "."
    return laid_out(title, desc, ["call", "rank", "before", "after"], rows, _draw, held)


def _held(cells: int, call: Callable, *first: Callable) -> tuple:
    """What each rank gave and what it got, as lists of numbers."""
    from torch.distributed._local_tensor import LocalTensorMode, rank_map  # a second that other figures save

    with LocalTensorMode(WORLD):
        x = rank_map(lambda rank: torch.arange(1, cells + 1) * 10**rank)
        for step in first:
            x = step(x)
        before = x.clone()
        got = call(x)
        after = x if got is None else got
    return tuple([part.tolist() for _, part in sorted(t._local_tensors.items())] for t in (before, after))


def _draw(held: dict, wide: bool) -> tuple:
    """The shapes, their width and height: as many panels beside each other as fit."""
    room, panel = ROOM if wide else NARROW, LEFT + 2 * WORLD * WIDTH + BETWEEN
    if (widest := max(code_width(name, TEXT) for name in held)) > panel:
        raise ValueError(f"a name is {widest} wide, and {panel} can be drawn")
    if max(code_width(str(n), TEXT) for grids in held.values() for grid in grids for row in grid for n in row) > WIDTH:
        raise ValueError(f"a value is too wide for {WIDTH}")
    beside = min(len(held), room // panel)
    apart = (room - room // panel * panel) / (room // panel - 1) if beside > 1 else 0
    high, shapes = HEAD + WORLD * HIGH + BELOW, []
    for i, (name, grids) in enumerate(held.items()):
        x, y = MARGIN + i % beside * (panel + apart), MARGIN + i // beside * high
        shapes += _panel(name, *grids, x, y)
    width = beside * panel + (beside - 1) * apart + 2 * MARGIN
    return shapes, width, -(-len(held) // beside) * high - BELOW + 2 * MARGIN


def _panel(name: str, before: list, after: list, x, y) -> list:
    """The name over two grids; the arrow is between the places where full grids end and begin."""
    owner = {(column + 1) * by: rank for rank, by in enumerate(TENS) for column in range(WORLD)}
    top, left, right = y + HEAD, x + LEFT, x + LEFT + WORLD * WIDTH + BETWEEN
    shapes = [text(x, y + 13, name, "it-name")]
    line = arrow(right - 5, top + WORLD * HIGH / 2, "right", "M", right - BETWEEN + 5, top + WORLD * HIGH / 2)
    shapes.append(group("it-3", *line))
    for rank in range(WORLD):
        middle = top + rank * HIGH + HIGH / 2
        start = left + (WORLD - len(before[rank])) * WIDTH
        shapes.append(text(start - LEFT, middle + 5, str(rank), "it-step"))
        for place, row in ((start, before[rank]), (right, after[rank])):
            for i, value in enumerate(row):
                at, y = place + i * WIDTH, top + rank * HIGH
                mark = rect(at + 1.5, y + 1.5, WIDTH - 3, HIGH - 3, "it-element", 5)
                marks = [group(f"it-{owner[value] + 1}", mark)] if value in owner else []
                shapes += cell(at, y, WIDTH, str(value), *marks, height=HIGH)
    return shapes
