"""The figure of the groups of dimensions that `view` can join."""

from itertools import pairwise

import torch

from .checks import checked_dict
from .drawing import figure, group, rect, text
from .layout import CELL, MARGIN, NARROW, ROOM, code_width
from .reading import Reading, describe, read, stored

TEXT, LINE = 13, 18  # size of text, from one line of it to the next
BOX, ROW = 54, CELL + 42  # height of a dimension, and of a row of cells with their numbers


def view_groups(tensor: torch.Tensor, *, name: str, title: str) -> str:
    """The dimensions of a tensor as boxes, those that one stride can walk in one outline, over the storage with the
    order in which the tensor reads it. Each neighboring pair is given to `view`, which must join it where the strides
    say so. Raises as storage_strip does, and ValueError where `view` and the strides disagree, for fewer than two
    dimensions, for one of size 1, which `view` ignores, and where two elements lie in one cell."""
    checked_dict({name: tensor}, torch.Tensor, "tensors")
    reading, (values, cell) = read(name, tensor, most=4), stored({name: tensor})
    size, stride, pairs = reading.size, reading.stride, []
    if len(size) < 2 or 1 in size:
        raise ValueError(f"{name!r} has size {size}: at least two dimensions, each longer than 1, can be grouped")
    if len(set(reading.indices)) < len(reading.indices):
        raise ValueError(f"{name!r} reads a cell twice, and a cell has room for one turn")
    for d, outer in enumerate(stride[:-1]):
        joins = outer == size[d + 1] * stride[d + 1]
        if joins != _granted(tensor, (*size[:d], size[d] * size[d + 1], *size[d + 2 :])):
            raise ValueError(f"view does not treat dimensions {d} and {d + 1} of {name!r} as their strides say")
        pairs.append((joins, f"{outer} {'=' if joins else '≠'} {size[d + 1]} · {stride[d + 1]}"))
    rows = [[d, size[d], stride[d], *pair] for d, pair in enumerate([*pairs, ("", "")])]
    told = [
        f"dimensions {d} and {d + 1} {'join' if joins else 'stay apart'}, {said}"
        for d, (joins, said) in enumerate(pairs)
    ]
    desc = describe(values, [reading], tensor.dtype) + f" In {name}, {'; '.join(told)}."
    drawn = [_groups(reading, pairs, values, cell, room) for room in (ROOM, NARROW)]
    columns = ["dimension", "size", "stride", "joins the next", "because"]
    return figure(*drawn[0], title, desc, columns, rows, drawn[1])


def _granted(tensor: torch.Tensor, shape: tuple) -> bool:
    """Whether `view` gives this shape."""
    try:
        tensor.view(shape)
    except RuntimeError:
        return False
    return True


def _groups(reading: Reading, pairs: list, values: list, cell, room) -> tuple:
    """The shapes of view_groups, side by side where `room` allows, their width and height."""
    box, gap = code_width("dimension 0", TEXT) + 16, max(code_width(said, TEXT) for _, said in pairs) + 16
    count = len(reading.size)
    across = count * box + (count - 1) * gap + 16 <= room
    step = (box + gap, 0) if across else (0, BOX + 50)
    corners = [(MARGIN + 8 + d * step[0], MARGIN + 8 + d * step[1]) for d in range(count)]
    starts = [0, *(d for d, (joins, _) in enumerate(pairs, 1) if not joins), count]
    shapes = []
    for first, end in pairwise(starts):
        (x, y), (right, low), tone = corners[first], corners[end - 1], 1 if end == count else 2
        inside = [rect(x - 8, y - 8, right - x + box + 16, low - y + BOX + 16, "it-element", 10)]
        length = reading.size[end - 1]
        for d in range(first, end - 1):
            length *= reading.size[d]
        at = (x - 8, low + BOX + 26) if across else (x + box + 16, y + BOX / 2 + 4)
        said = f"{length} elements, step {reading.stride[end - 1]}"
        shapes.append(group(f"it-{tone}", *inside, text(*at, said, "it-step")))
        width = at[0] + code_width(said, TEXT)
    for d, (x, y) in enumerate(corners):
        shapes.append(rect(x, y, box, BOX, "it-pill", 3))
        for i, line in enumerate([f"dimension {d}", f"size {reading.size[d]}", f"stride {reading.stride[d]}"]):
            shapes.append(text(x + 8, y + 15 + 16 * i, line, "it-value"))
    for (x, y), (joins, said) in zip(corners, pairs):
        middle, anchor = ((x + box + gap / 2, y + 22), "middle") if across else ((x + 8, y + BOX + 22), "start")
        shapes.append(text(*middle, said, "it-value", anchor))
        word = (middle[0], middle[1] + 18) if across else (x + box + 16, middle[1])
        shapes.append(text(*word, "one stride" if joins else "two strides", "it-note", anchor))
    top = corners[-1][1] + BOX + (64 if across else 44)
    strip, right, bottom = _walked(reading, length, values, cell, room, top)
    width = max(width, right, corners[-1][0] + box + 8)
    if width > room + MARGIN:
        raise ValueError(f"{reading.label!r} is {width} wide, and at most {room} can be drawn")
    return [group("it-large", *shapes, *strip)], width + MARGIN, bottom + MARGIN


def _walked(reading: Reading, walk: int, values: list, cell, room, y) -> tuple:
    """The storage in as many rows as it needs, with the index above each cell and the turn in which the tensor reads it
    below; dashed where another of the walks through the last group, each `walk` elements long, begins."""
    per, turns = room // cell, {index: turn for turn, index in enumerate(reading.indices)}
    notes = [
        f"above a cell: its position; below it: when {reading.label} reads it",
        "dashed: a walk through the last group begins",
    ]
    notes = notes[: 1 + (walk < len(turns))]
    shapes = [text(MARGIN, y + LINE * i, note, "it-note") for i, note in enumerate(notes)]
    y += LINE * len(notes) + 8
    for index, value in enumerate(values):
        x, top, turn = MARGIN + index % per * cell, y + index // per * ROW, turns.get(index)
        shapes.append(group("it-1", rect(x, top, cell, CELL, "it-cell" if turn is None else "it-fill")))
        shapes += [rect(x, top, cell, CELL, "it-edge"), text(x + cell / 2, top - 5, str(index), "it-index", "middle")]
        shapes.append(text(x + cell / 2, top + 18, value, "it-value", "middle"))
        if turn is not None:
            shapes.append(text(x + cell / 2, top + CELL + 16, str(turn), "it-index", "middle"))
        if turn is not None and len(notes) > 1 and turn % walk == 0:
            shapes.append(group("it-2", rect(x + 2, top + 2, cell - 4, CELL - 4, "it-line", 6)))
    return shapes, MARGIN + min(per, len(values)) * cell, y + -(-len(values) // per) * ROW - 18
