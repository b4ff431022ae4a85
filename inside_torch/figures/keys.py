"""Figures of the dispatcher: the key set of a call as bits, and the kernels that its keys lead to."""

import re
from pathlib import PurePosixPath

import torch

from .svg import CELL, MARGIN, arrow_head, code_width, figure, group, path, rect, text

STAIR = 20  # from one key's name to the next
BOX = 44  # height of a kernel
GAP = 26  # between two of them
ENTRY = re.compile(r"(?P<key>\w+): (?P<falls>fallthrough )?registered at (?P<file>[^\s\[]+?):(?P<line>\d+) \[")
GENERATED = re.compile(r"(?:^|/)(?:Register\w+|VariableType_\d+|ADInplaceOrViewType_\d+|TraceType_\d+)\.cpp$")


def _keys(tensor: torch.Tensor) -> list:
    """The keys of a call on `tensor`, highest first, as (name, whether this thread excludes it)."""
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"tensor must be a torch.Tensor, got {type(tensor).__name__}")
    keys = torch._C._dispatch_keys(tensor) | torch._C._dispatch_tls_local_include_set()
    excluded = torch._C._dispatch_tls_local_exclude_set()
    found = []
    while keys.raw_repr() and (key := keys.highestPriorityTypeId()) != torch._C.DispatchKey.Undefined:
        found.append((key.name, excluded.has(key)))
        keys = keys.remove(key)
    return found


def key_set(tensor: torch.Tensor, *, title: str) -> str:
    """The key set of a call whose only tensor is `tensor`: a bit for each key in it, the highest on the left;
    the key that is taken is filled, keys that this thread excludes are dashed and empty.

    Raises TypeError for what is no tensor, ValueError for one without keys.
    """
    keys = _keys(tensor)
    taken = next((i for i, (_, excluded) in enumerate(keys) if not excluded), None)
    if taken is None:
        raise ValueError("no key is left: nothing would be called")
    left, top = MARGIN, MARGIN
    shapes, width = [], 0
    for i, (name, excluded) in enumerate(keys):
        x, y = left + i * (CELL + 2), top + CELL + STAIR * (len(keys) - i)
        said = name + (" taken" if i == taken else " excluded" if excluded else "")
        label = f"it-name{'' if i == taken else ' it-note'}"
        shapes += [
            rect(x, top, CELL, CELL, "it-element" if i == taken else "it-cell", 0),
            rect(x, top, CELL, CELL, f"it-edge{' it-dashed' if excluded else ''}"),
            text(x + CELL / 2, top + 17, "0" if excluded else "1", "it-value", "middle"),
            path("M", x + CELL / 2, top + CELL, "V", y - 4, "h", 8, kind="it-line"),
            text(x + CELL / 2 + 12, y, said, label),
        ]
        width = max(width, x + CELL / 2 + 12 + code_width(said, 13))
    rows = [[name, "excluded" if out else "set", "taken" if i == taken else ""] for i, (name, out) in enumerate(keys)]
    return figure(
        [group("it-1", *shapes)],
        width + MARGIN,
        top + CELL + STAIR * len(keys) + 8 + MARGIN,
        title=title,
        desc="Bits from the highest priority to the lowest: " + ", ".join(" ".join(row).strip() for row in rows) + ".",
        columns=["key", "bit", "call"],
        rows=rows,
    )


def _registered(operator: str) -> dict:
    """Key to (file, whether it falls through) for what is registered for an operator."""
    table = torch._C._dispatch_dump_table(operator)
    return {one["key"]: (one["file"], bool(one["falls"])) for one in ENTRY.finditer(table)}


def kernels(operator: str, tensor: torch.Tensor, *, title: str) -> str:
    """The kernels registered for `operator` (`aten::add.Tensor`) under the keys of a call on `tensor`, in the order
    in which the keys ask for them: a box each with the file that registered it, dashed when that is generated.
    Keys that fall through are left out. Raises TypeError for no tensor, ValueError where none is registered.
    """
    registered = _registered(operator)
    passed = [(key, *registered[key]) for key, excluded in _keys(tensor) if not excluded and key in registered]
    stops = [(key, PurePosixPath(file).name, bool(GENERATED.search(file))) for key, file, falls in passed if not falls]
    if not stops:
        raise ValueError(f"no kernel of {operator} answers to {[key for key, *_ in passed]}")
    wide = 24 + max(max(code_width(key, 13), code_width(file)) for key, file, _ in stops)
    shapes, y = [text(MARGIN, MARGIN + 12, operator, "it-value")], MARGIN + 24
    for number, (key, file, generated) in enumerate(stops):
        if number:
            middle = MARGIN + wide / 2
            shapes += [path("M", middle, y, "v", GAP - 7), arrow_head(middle, y + GAP)]
            y += GAP
        shapes += [
            rect(MARGIN, y, wide, BOX, f"it-pill{' it-dashed' if generated else ''}", 3),
            text(MARGIN + 12, y + 18, key, "it-name"),
            text(MARGIN + 12, y + 35, file, "it-value it-note"),
        ]
        y += BOX
    rows = [[key, file, "generated" if generated else "written by hand"] for key, file, generated in stops]
    return figure(
        [group("it-3", *shapes)],
        2 * MARGIN + wide,
        y + MARGIN,
        title=title,
        desc=f"Kernels of {operator}, from the highest key down: " + "; ".join(", ".join(row) for row in rows) + ".",
        columns=["key", "registered in", "source"],
        rows=rows,
    )
