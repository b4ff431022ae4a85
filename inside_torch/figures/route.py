"""The figure of one call's way through an operator's table: each key that the call has, the highest first, where the
key comes from, what the table holds for it and whether the call stops there. Read from the running dispatcher."""

import re
from pathlib import PurePosixPath

import torch

from .checks import checked
from .drawing import arrow_down, figure, group, rect, text
from .layout import CELL, MARGIN, NARROW, ROOM, code_width

HIGH, GAP = 40, 12  # height of a row, and between two of them
CALLED = 16  # more room below a kernel for how it calls the next one
ENTRY = re.compile(r"^(\w+): (fallthrough )?registered at (\S+):\d+ \[(.+)\]$", re.M)
COMPOSITE = "math kernel"  # how `OperatorEntry` names a kernel that was registered for CompositeImplicitAutograd


def route(operator: str, tensor: torch.Tensor) -> list:
    """A row for each key of a call of `operator` on `tensor`, the highest first: key, who brings it, what happens
    there (excluded, falls through, runs; below a composite kernel, which starts calls of its own, not reached), the
    file that registered the entry, the kind of entry."""
    included = torch._C._dispatch_tls_local_include_set()
    excluded = torch._C._dispatch_tls_local_exclude_set()
    own = torch._C._dispatch_keys(checked(tensor, torch.Tensor, "tensor"))
    table = {key: found for key, *found in ENTRY.findall(torch._C._dispatch_dump_table(operator))}
    keys, rows = own | included, []
    while (key := keys.highestPriorityTypeId()) != torch._C.DispatchKey.Undefined:
        bringers = ["tensor"] * own.has(key) + ["thread"] * included.has(key)
        falls, file, kind = table.get(key.name, ("", "", ""))
        happens = "excluded" if not (keys - excluded).has(key) else "falls through" if falls else "runs"
        happens = "not reached" if any(one[4] == COMPOSITE for one in rows) else happens
        if happens == "runs" and not file:
            raise ValueError(f"{operator} has no entry for {key.name}")
        rows.append([key.name, " and ".join(bringers), happens, PurePosixPath(file).name, kind])
        keys = keys.remove(key)
    if not any(happens == "runs" for _, _, happens, *_ in rows):
        raise ValueError(f"no key of this call has a kernel of {operator}")
    return rows


def call_route(operator: str, tensor: torch.Tensor, *, title: str) -> str:
    """The way of a call of `operator` (`aten::addmm`) whose tensors are like `tensor`. Left each key of the call, the
    highest above: 1 where it is in the key set, filled where a kernel runs, dashed and 0 where the thread excludes it,
    and who brings it. Right the entry in the operator's table, a box around what runs: the kind of kernel as the table
    names it, and the file; an arrow leads from a kernel to the one that it calls.

    Raises TypeError for no tensor, ValueError where no kernel runs, for a key without an entry and for names that do
    not fit."""
    rows = route(operator, tensor)
    drawn = [_draw(operator, rows, wide) for wide in (True, False)]
    if drawn[0][1] > ROOM + 2 * MARGIN or drawn[1][1] > NARROW + 2 * MARGIN:
        raise ValueError(f"the names are too long: {ROOM} px can be drawn, on a phone {NARROW}")
    desc = f"Keys of a call of {operator}, the highest first: "
    desc += "; ".join(f"{key}, from the {who}, {happens} ({kind} in {file})" for key, who, happens, file, kind in rows)
    columns = ["key", "brought by", "in this call", "registered in", "entry"]
    return figure(*drawn[0], title, desc + ".", columns, rows, drawn[1])


def _draw(operator: str, rows: list, wide: bool) -> tuple:
    """The shapes, their width and height."""
    size, pad, apart = (13, 14, 120) if wide else (12, 6, 14)
    names = MARGIN + CELL + (12 if wide else 8)
    entries = names + max(max(code_width(name, 13), code_width(who, size)) for name, who, *_ in rows) + apart
    said = [one for *_, happens, file, kind in rows for one in ((file, kind) if happens == "runs" else (happens,))]
    width = max(code_width(operator, 13), 2 * pad + max(code_width(one, size) for one in said))
    shapes = [text(MARGIN, MARGIN + 12, "1: in the key set", "it-value it-note")]
    shapes.append(text(entries, MARGIN + 12, operator, "it-value it-note"))
    last, caller, y = 0, "", MARGIN + 24
    for name, who, happens, file, kind in rows:
        y += CALLED if last == y - GAP and happens != "runs" else 0  # room for what stands beside the arrow
        runs, middle = happens == "runs", y + HIGH / 2
        bit, edge = ("0", "it-edge it-dashed") if happens == "excluded" else ("1", "it-edge")
        shapes.append(rect(MARGIN, middle - CELL / 2, CELL, CELL, "it-element" if runs else "it-cell"))
        shapes += [] if runs else [rect(MARGIN, middle - CELL / 2, CELL, CELL, edge)]
        shapes.append(text(MARGIN + CELL / 2, middle + 4, bit, "it-value", "middle"))
        shapes.append(text(names, middle - 3, name, "it-name" if runs else "it-name it-note"))
        shapes.append(text(names, middle + 14, who, "it-value it-note"))
        if runs:
            shapes += arrow_down(entries + 24, last, y) if last else []
            if last and y - last > HIGH:  # there is room beside the arrow
                called = "redispatch" if caller == "autograd kernel" else "calls again"
                shapes.append(text(entries + 36, last + 16, called, "it-value"))
            shapes.append(rect(entries, y, width, HIGH, "it-pill", 4))
            shapes.append(text(entries + pad, middle - 3, kind, "it-name"))
            shapes.append(text(entries + pad, middle + 14, file, "it-value it-note"))
            last, caller = y + HIGH, kind
        else:
            shapes.append(text(entries + 36, middle + 4, happens, "it-value it-note"))
        y += HIGH + GAP
    kind = "it-1 it-large" if wide else "it-1"
    return [group(kind, *shapes)], entries + width + MARGIN, y - GAP + MARGIN
