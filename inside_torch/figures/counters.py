"""The figure of a write: what the tensors over one storage hold and count, before it and after."""

from collections import namedtuple

import torch

from inside_torch.drawing.layout import CELL, MARGIN, ROOM, code_width, widest
from inside_torch.drawing.svg import arrow, cell, group, rect, text

from .boxes import extent, laid_out
from .reading import read

TEXT, ROW = 13, 32  # size of text, from one tensor to the next
COUNTER = code_width("version 0", TEXT) + 16


# A storage's values, as text, and by label the indices that a tensor reads and its version, at one time.
State = namedtuple("State", "values cells versions")


def write_counted(tensors: dict[str, torch.Tensor], write: str, *, title: str) -> str:
    """The storage of up to four tensors before and after the code `write`, which has their labels as names; below it
    the cells that each tensor reads, and the version counters, one box for all tensors whose version the write moved.
    Raises as storage_strip does, and ValueError where no version moved, where two moved by different numbers, where no
    value changed, and for what does not fit."""
    before = _state(tensors)
    eval(write, dict(tensors))
    after = _state(tensors)
    moves = {label: after.versions[label] - version for label, version in before.versions.items()}
    if len(set(moves.values()) - {0}) != 1:
        raise ValueError(f"{write} moved the versions of {list(tensors)} by {list(moves.values())}")
    counters = [[label for label in tensors if moves[label]], *([label] for label in tensors if not moves[label])]
    changed = {i for i, pair in enumerate(zip(before.values, after.values)) if len(set(pair)) > 1}
    if not changed:
        raise ValueError(f"{write} changed no value")
    names = widest(tensors, TEXT) + 10
    side = max(CELL, widest(before.values + after.values, TEXT) + 4)
    high = 66 + ROW * len(tensors)

    def draw(wide: bool) -> list:
        first = _panel("before", before, counters, set(), names, side, MARGIN, MARGIN)
        width, _ = extent(first)
        far, middle = ROOM + 2 * MARGIN - width, MARGIN + 48
        corner = (MARGIN + far, MARGIN) if wide else (MARGIN, MARGIN + high + ROW)
        leads = arrow(far, middle, "right", "M", width + 4, middle) if wide else []
        return [
            *first,
            group("it-3", *leads),
            *_panel(f"after {write}", after, counters, changed, names, side, *corner),
        ]

    rows = [[label, str(cells), before.versions[label], after.versions[label]] for label, cells in before.cells.items()]
    told = [f"{label} reads cells {cells}, version {old}, then {new}" for label, cells, old, new in rows]
    desc = f"{write} changes cells {sorted(changed)} of one storage. " + "; ".join(told) + "."
    rows.append(["storage", "all", ", ".join(before.values), ", ".join(after.values)])
    return laid_out(title, desc, ["object", "cells", "before", "after"], rows, draw)


def _state(tensors: dict) -> State:
    readings, values, _ = read(tensors, most=4, dimensions=3)
    cells = {reading.label: sorted(set(reading.indices)) for reading in readings}
    return State(values, cells, {label: tensor._version for label, tensor in tensors.items()})


def _panel(said: str, state: State, counters: list, changed: set, names, side, x, y) -> list:
    """The storage with its upper left corner at (x, y), changed cells filled; below it a row for each tensor, with a
    mark under each cell that it reads and its counter at the end."""
    left, shapes, row = x + names, [text(x, y + 12, said, "it-name")], y + 66
    for i, value in enumerate(state.values):
        shapes += cell(left + i * side, y + 36, side, value, tones=[1] * (i in changed), index=i)
    for labels, tone in zip(counters, (1, 3, 3, 3)):
        inside, box = [], left + side * len(state.values) + 12
        for i, label in enumerate(labels):
            top = row + i * ROW
            inside.append(text(x, top + 20, label, "it-name"))
            marks = [left + at * side for at in state.cells[label]]
            inside += [rect(mark + 3, top + 6, side - 6, ROW - 12, "it-element", 6) for mark in marks]
        inside.append(rect(box, row + 3, COUNTER, len(labels) * ROW - 6, "it-element", 3))
        version, middle = f"version {state.versions[labels[0]]}", row + len(labels) * ROW / 2 + 5
        shapes += [group(f"it-{tone}", *inside), text(box + COUNTER / 2, middle, version, "it-value", "middle")]
        row += len(labels) * ROW
    return shapes
