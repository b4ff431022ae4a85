"""The figure of the groups of dimensions that `view` can join."""

from itertools import pairwise
from math import prod

import torch

from inside_torch.drawing.layout import CELL, MARGIN, NARROW, ROOM, code_width, widest
from inside_torch.drawing.svg import arrow, cell, group, rect, text

from .boxes import Box, Place, laid_out
from .reading import Reading, describe, read

TEXT, LINE = 13, 18  # size of text, from one line of it to the next
BOX, ROW = 54, CELL + 48  # height of a dimension, and of a row of cells with its index and its arrow


def view_groups(tensor: torch.Tensor, *, name: str, title: str) -> str:
    """The dimensions of a tensor as boxes, those that one stride can walk in one outline, over the storage, which shows
    where the walks through the last group start. Each neighboring pair is given to `view`, which must join it where the
    strides say so. Raises as storage_strip does, and ValueError where `view` and the strides disagree, for fewer than
    two dimensions, for one of size 1, which `view` ignores, and where two elements lie in one cell."""
    (reading,), values, side = read({name: tensor}, most=1, dimensions=4)
    size, stride, pairs = reading.size, reading.stride, []
    if len(size) < 2 or 1 in size:
        raise ValueError(f"{name!r} has size {size}: at least two dimensions, each longer than 1, can be grouped")
    if len(set(reading.indices)) < len(reading.indices):
        raise ValueError(f"{name!r} reads a cell twice, and no walk could be told from another")
    for d, outer in enumerate(stride[:-1]):
        joins = outer == size[d + 1] * stride[d + 1]
        if joins != _granted(tensor, (*size[:d], size[d] * size[d + 1], *size[d + 2 :])):
            raise ValueError(f"view does not treat dimensions {d} and {d + 1} of {name!r} as their strides say")
        pairs.append((joins, f"{outer} {'=' if joins else '≠'} {size[d + 1]} · {stride[d + 1]}"))
    rows = [[d, size[d], stride[d], *pair] for d, pair in enumerate([*pairs, ("", "")])]
    words = {True: "join", False: "stay apart"}
    told = [f"dimensions {d} and {d + 1} {words[joins]}, {said}" for d, (joins, said) in enumerate(pairs)]
    desc = describe(values, [reading], tensor.dtype) + f" In {name}, {'; '.join(told)}."
    draw = lambda wide: _groups(reading, pairs, values, side, ROOM if wide else NARROW)  # noqa: E731
    columns = ["dimension", "size", "stride", "joins the next", "because"]
    return laid_out(title, desc, columns, rows, draw)


def _granted(tensor: torch.Tensor, shape: tuple) -> bool:
    """Whether `view` gives this shape."""
    try:
        tensor.view(shape)
    except RuntimeError:
        return False
    return True


def _groups(reading: Reading, pairs: list, values: list, side, room) -> list:
    """The shapes of view_groups, side by side where `room` allows."""
    box, gap = code_width("dimension 0", TEXT) + 16, widest(said for _, said in pairs) + 26
    count = len(reading.size)
    across = count * box + (count - 1) * gap + 16 <= room
    step = (box + gap, 0) if across else (0, BOX + 50)
    corners = [(MARGIN + 8 + d * step[0], MARGIN + 8 + d * step[1]) for d in range(count)]
    starts = [0, *(d for d, (joins, _) in enumerate(pairs, 1) if not joins), count]
    shapes = []
    for first, end in pairwise(starts):
        (x, y), (right, low), tone = corners[first], corners[end - 1], 1 if end == count else 2
        around = rect(x - 8, y - 8, right - x + box + 16, low - y + BOX + 16, "it-element", 10)
        length = prod(reading.size[first:end])
        at = (x - 8, low + BOX + 26) if across else (x + box + 16, y + BOX / 2 + 4)
        said = f"{length} elements, step {reading.stride[end - 1]}"
        shapes.append(group(f"it-{tone}", around, text(*at, said, "it-step")))
    for d, (x, y) in enumerate(corners):
        lines = [f"dimension {d}", f"size {reading.size[d]}", f"stride {reading.stride[d]}"]
        shapes += Box(lines, anchor="start", radius=3).drawn(Place(x, y, box, BOX))
    for (x, y), (joins, said) in zip(corners, pairs):
        middle, anchor = ((x + box + gap / 2, y + 22), "middle") if across else ((x + 8, y + BOX + 22), "start")
        shapes.append(text(*middle, said, "it-value", anchor))
        word = (middle[0], middle[1] + 18) if across else (x + box + 16, middle[1])
        shapes.append(text(*word, "one stride" if joins else "two strides", "it-note", anchor))
    top = corners[-1][1] + BOX + (64 if across else 44)
    return [*shapes, *_walked(reading, length, values, side, room, top)]


def _walked(reading: Reading, walk: int, values: list, side, room, y) -> list:
    """The storage in as many rows as it needs. Where there are several walks through the last group, each `walk`
    elements long, the first one is filled and the others have an arrow where they start, with a word at the next one;
    else what the tensor reads is filled. A cell has its index above it, unless every value is its own index."""
    per, (first, *starts) = room // side, reading.indices[::walk]
    seen = reading.indices[:walk] if starts else reading.indices
    indexed = values != [str(index) for index in range(len(values))]
    notes = ["above a cell: its position"] * indexed
    if starts:
        notes += [f"filled: a walk of {walk} elements", f"one more step leads to {first + walk * reading.stride[-1]}"]
        notes += ["arrow: where the next walk starts" if len(starts) == 1 else "arrows: where the other walks start"]
    else:
        notes += [f"filled: what {reading.label} reads"]
    shapes = [text(MARGIN, y + LINE * i, note, "it-note") for i, note in enumerate(notes)]
    y += LINE * (len(notes) - 1) + (26 if indexed else 10)
    half = code_width("next", TEXT) / 2
    for index, value in enumerate(values):
        x, top = MARGIN + index % per * side, y + index // per * ROW
        middle, low = x + side / 2, top + CELL
        filled = [1] * (index in seen)
        shapes += cell(x, top, side, value, tones=filled, index=index if indexed else "")
        if index in starts:
            word = text(max(middle, MARGIN + half), low + 27, "next", "it-step", "middle")
            said = [word] if index == starts[0] else []
            shapes.append(group("it-2", *arrow(middle, low + 1, "up", "M", middle, low + 14), *said))
    return shapes
