"""The figure of all kernels that run in one call, in several situations."""

import re
from collections import Counter
from collections.abc import Callable
from itertools import accumulate, groupby
from textwrap import wrap

from .drawing import arrow_down, figure, group, lines_box, rect, text
from .layout import MARGIN, PHONE, READ, WIDE, code_width
from .noted import in_order, noted

LINE, PAD, GAP = 16, 8, 20  # from one line of text to the next, around the lines of a box, between two boxes
LABEL = 176  # px for the names of keys


def kernels_ran(calls: dict[str, Callable], *, title: str) -> str:
    """The kernels that run in each of the calls, functions without arguments: a column for a call, a row for a key, in
    the order in which calls reach them, and in a box the operators whose kernels for this key run, with a number where
    one runs several times. The first operator is bold. Below the name of a call stands how many kernels run. What the
    kernel of a backend calls is left out.

    Raises TypeError for what can't be called, ValueError for a call without a kernel and a name that is too long."""
    if strange := [name for name, call in calls.items() if not callable(call)]:
        raise TypeError(f"each call must be a function, {strange[0]} is none")
    ran = {name: noted(call) for name, call in calls.items()}
    if empty := [name for name in ran if not ran[name]]:
        raise ValueError(f"no kernel runs in {empty[0]}")
    keys = in_order([list(dict.fromkeys(key for key, _ in seen)) for seen in ran.values()])
    heads = {name: [name, f"{len(seen)} kernel{'s' if len(seen) > 1 else ''}"] for name, seen in ran.items()}
    cells = {(name, key): _counted([op for k, op in ran[name] if k == key]) for name in ran for key in keys}
    rows = [[key, *(", ".join(cells[name, key]) for name in ran)] for key in keys]
    said = {
        name: "; ".join(f"{key}: {', '.join(cells[name, key])}" for key in keys if cells[name, key]) for name in ran
    }
    cells["", ""] = [next(iter(ran.values()))[0][1]]
    desc = " ".join(f"{name}, {heads[name][1]}: {said[name]}." for name in ran)
    drawn = [draw(heads, keys, cells) for draw in (_draw, _draw_narrow)]
    return figure(*drawn[0], title, desc, ["key", *ran], rows, drawn[1])


def _counted(ops: list) -> list:
    """Each operator once, with the number of its kernels that ran where there are several."""
    return [f"{op} \N{MULTIPLICATION SIGN}{count}" if count > 1 else op for op, count in Counter(ops).items()]


def _box(x, y, width, lines: list, bold: str) -> list:
    return lines_box(x, y, width, 2 * PAD + LINE * len(lines) - 3, lines, LINE, bold=bold)


def _draw(heads: dict, keys: list, cells: dict) -> tuple:
    """The shapes, width and height where there is room for all columns."""
    words = [(name, word, 8) for name in heads for word in heads[name]]  # a column, its words, the room around them
    words += [(name, op, 22) for name in heads for key in keys for op in cells[name, key]]
    wide = {name: max(room + code_width(word, READ) for one, word, room in words if one == name) for name in heads}
    if (spare := WIDE - LABEL - 2 * MARGIN - sum(wide.values())) < 0:
        raise ValueError(f"{max((word for _, word, _ in words), key=len)} is too long for a column")
    wide = {name: width + spare / len(heads) for name, width in wide.items()}
    edges = dict(zip(heads, accumulate([LABEL, *wide.values()])))
    y, shapes = MARGIN + 2 * LINE + 6, []
    for name, count in heads.values():
        middle = edges[name] + wide[name] / 2
        shapes += [text(middle, MARGIN + 12, name, "it-name", "middle")]
        shapes += [text(middle, MARGIN + 12 + LINE, count, "it-value it-note", "middle")]
    tops = dict.fromkeys(heads, y)
    for n, key in enumerate(keys):
        said = wrap(re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", key), 22)
        said = [line.replace(" ", "") for line in said]
        most = max([len(said), *(len(cells[name, key]) for name in heads)])
        high = 2 * PAD + LINE * most - 3 + GAP
        band = [rect(MARGIN, y, WIDE - 2 * MARGIN, high, "it-fill", 3)] if n % 2 == 0 else []
        shapes = [group("it-3", *band), *shapes] if band else shapes
        lines = [text(MARGIN + 8, y + GAP - 4 + PAD + 11 + LINE * i, line, "it-value") for i, line in enumerate(said)]
        shapes += lines
        for name in heads:
            if ops := cells[name, key]:
                left, top = edges[name] + 7, y + GAP - 4
                shapes += [group("it-1", *arrow_down(left + wide[name] / 2 - 7, tops[name], top))]
                shapes += _box(left, top, wide[name] - 14, ops, cells["", ""][0])
                tops[name] = top + 2 * PAD + LINE * len(ops) - 3
        y += high
    return [group("it-large", *shapes)], WIDE, y + MARGIN


def _draw_narrow(heads: dict, keys: list, cells: dict) -> tuple:
    """The shapes, width and height on a phone: one call below the other."""
    shapes, y = [], MARGIN
    for name, (_, count) in heads.items():
        shapes += [text(MARGIN, y + 14, f"{name}: {count}", "it-name")]
        y += 24
        for i, key in enumerate(key for key in keys if cells[name, key]):
            runs = [list(ops) for _, ops in groupby(cells[name, key], cells["", ""].__contains__)]
            lines = [key + ":", *(line for ops in runs for line in wrap(", ".join(ops), 38))]
            if i:
                shapes += [group("it-1", *arrow_down(PHONE / 2, y, y + GAP))]
                y += GAP
            shapes += _box(MARGIN, y, PHONE - 2 * MARGIN, lines, cells["", ""][0])
            y += 2 * PAD + LINE * len(lines) - 3
        y += 16
    return [group("it-large", *shapes)], PHONE, y - 16 + MARGIN
