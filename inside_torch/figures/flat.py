"""The figure of the walks that a flat tensor would have to take through a storage."""

from itertools import pairwise

import torch

from inside_torch.drawing.layout import CELL, MARGIN, NARROW, ROOM, code_width
from inside_torch.drawing.svg import arrow, cell, group, text

from .boxes import laid_out
from .reading import Reading, describe, read

HOPS, LEVEL = 3, 20  # how many of the first steps are drawn, and the room for them


def flat_walks(tensors: dict[str, torch.Tensor], *, title: str) -> str:
    """Up to three tensors over one storage, each with a strip of it on which the cells that it reads are filled, with
    the first steps from element to element, and whether `reshape(-1)` makes a view or a copy of it. Raises as
    storage_strip does, and ValueError where `reshape(-1)` shares memory although the distances between the elements
    differ, or copies although they do not, for a cell that is read twice, and for what does not fit."""
    readings, values, _ = read(tensors, most=3, dimensions=4)
    rows, walks = [], []
    for reading, tensor in zip(readings, tensors.values()):
        steps = [b - a for a, b in pairwise(reading.indices)]
        if len(set(reading.indices)) < len(reading.indices):
            raise ValueError(f"{reading.label!r} reads a cell twice, and its steps could not be told apart")
        flat = "view" if tensor.reshape(-1).data_ptr() == tensor.data_ptr() else "copy"
        if (flat == "view") != (len(set(steps)) < 2):
            raise ValueError(f"reshape(-1) makes a {flat} of {reading.label!r}, whose elements are {steps} apart")
        rows.append([reading.label, reading.indices, steps, flat])
        walks.append((reading, steps, flat))
    told = "; ".join(f"of {label}, with steps {_listed(steps)}, a {flat}" for label, _, steps, flat in rows)
    desc = describe(values, readings, next(iter(tensors.values())).dtype) + f" reshape(-1) makes {told}."
    columns = ["tensor", "storage indices", "steps", "reshape(-1) makes a"]
    return laid_out(title, desc, columns, rows, _draw, walks, values)


def _listed(steps: list) -> str:
    """The steps as one line."""
    return ", ".join(map(str, steps))


def _draw(walks: list, values: list, wide: bool) -> list:
    """The strips of flat_walks, one below the other."""
    side = min(52, (ROOM if wide else NARROW) // len(values))
    if max(map(code_width, values)) > side:
        raise ValueError(f"values are too wide: {side} px can be drawn")
    shapes, y = [], MARGIN + 12
    for reading, steps, flat in walks:
        top = y + 30 + (LEVEL + 8) * (min(steps[:HOPS], default=0) < 0)
        shapes.append(text(MARGIN, y, f"{reading.label} made flat: a {flat}", "it-name"))
        shapes.append(text(MARGIN, y + 19, f"steps {_listed(steps)}", "it-step"))
        for index, value in enumerate(values):
            tones = [1] * (index in reading.indices)
            shapes += cell(MARGIN + index * side, top, side, value, tones=tones)
        shapes.append(group("it-1", *_steps(reading, side, top)))
        y = top + CELL + LEVEL + 46
    return shapes


def _steps(reading: Reading, side, top) -> list:
    """The first steps as arrows: below the cells to the right and above them to the left, so that none cross, and none
    after one that would lie over another."""
    shapes, drawn = [], []
    for a, b in pairwise(reading.indices[: HOPS + 1]):
        if any((a < b) == (c < d) and max(min(a, b), min(c, d)) < min(max(a, b), max(c, d)) for c, d in drawn):
            break
        drawn.append((a, b))
        start, end = MARGIN + (a + 0.5) * side + 4, MARGIN + (b + 0.5) * side - 4
        below = top + CELL + 1, top + CELL + LEVEL - 6, 15, "up"
        edge, y, word, way = below if b > a else (top - 1, top - 15, -5, "down")
        shapes += arrow(end, edge, way, "M", start, edge, "V", y, "H", end)
        shapes.append(text((start + end) / 2, y + word, f"{b - a:+}", "it-step", "middle"))
    return shapes
