"""Figures of the dispatcher: the key set of a call as bits, and the kernels that its keys lead to."""

import re
from pathlib import PurePosixPath

import torch

from .checks import checked
from .drawing import arrow_head, figure, group, path, rect, text
from .layout import CELL, MARGIN, code_width

STAIR = 20  # from one key's name to the next
BOX, GAP = 44, 26  # height of a kernel, and between two of them
ENTRY = re.compile(r"(?P<key>\w+): (?P<falls>fallthrough )?registered at (?P<file>[^\s\[]+?):\d+ \[")
GENERATED = re.compile(r"(?:Register\w+|VariableType_\d+|ADInplaceOrViewType_\d+|TraceType_\d+)\.cpp")


def registered(operator: str) -> dict:
    """What is registered for an operator: key -> the file of its kernel, or nothing where the key falls through."""
    table = ENTRY.finditer(torch._C._dispatch_dump_table(operator))
    return {entry["key"]: "" if entry["falls"] else PurePosixPath(entry["file"]).name for entry in table}


def keys_of(tensor: torch.Tensor) -> list:
    """The keys of a call on `tensor`, highest first, as (name, whether this thread excludes it)."""
    keys = torch._C._dispatch_keys(checked(tensor, torch.Tensor, "tensor"))
    keys, found = keys | torch._C._dispatch_tls_local_include_set(), []
    while keys.raw_repr() and (key := keys.highestPriorityTypeId()) != torch._C.DispatchKey.Undefined:
        found.append((key.name, torch._C._dispatch_tls_local_exclude_set().has(key)))
        keys = keys.remove(key)
    return found


def key_set(tensor: torch.Tensor, *, title: str) -> str:
    """The key set of a call whose only tensor is `tensor`: a bit for each key in it, the highest on the left; the key
    that is taken is filled, keys that this thread excludes are dashed and empty. Raises TypeError for what is no
    tensor, ValueError for one without keys."""
    keys = keys_of(tensor)
    left = [key for key, excluded in keys if not excluded]
    if not left:
        raise ValueError("no key is left: nothing would be called")
    shapes, rows, right, low = [], [], 0, MARGIN + CELL
    for i, (name, excluded) in enumerate(keys):
        x, y, taken = MARGIN + i * (CELL + 2) + CELL / 2, low + STAIR * (len(keys) - i), name == left[0]
        said = name + (" taken" if taken else " excluded" if excluded else "")
        shapes += [
            rect(x - CELL / 2, MARGIN, CELL, CELL, "it-element" if taken else "it-cell"),
            rect(x - CELL / 2, MARGIN, CELL, CELL, "it-edge it-dashed" if excluded else "it-edge"),
            text(x, MARGIN + 17, "0" if excluded else "1", "it-value", "middle"),
            path("M", x, low, "V", y - 4, "h", 8),
            text(x + 12, y, said, "it-name" if taken else "it-name it-note"),
        ]
        right = max(right, x + 12 + code_width(said, 13))
        rows.append([name, "excluded" if excluded else "set", "taken" if taken else ""])
    desc = "Bits from the highest priority to the lowest: " + ", ".join(" ".join(row).strip() for row in rows) + "."
    bottom = low + STAIR * len(keys) + 8
    return figure([group("it-1", *shapes)], right + MARGIN, bottom + MARGIN, title, desc, ["key", "bit", "call"], rows)


def kernels(operator: str, tensor: torch.Tensor, *, title: str) -> str:
    """The kernels registered for `operator` (`aten::add.Tensor`) under the keys of a call on `tensor`, in the order
    in which the keys ask for them: a box each with the file that registered it, dashed when that is generated.
    Keys that fall through are left out. Raises TypeError for no tensor, ValueError where none is registered."""
    asked = [key for key, excluded in keys_of(tensor) if not excluded]
    files = registered(operator)
    found = [(key, files[key]) for key in asked if files.get(key)]
    rows = [[*one, "generated" if GENERATED.fullmatch(one[1]) else "written by hand"] for one in found]
    if not rows:
        raise ValueError(f"no kernel of {operator} answers to {asked}")
    wide = 24 + max(max(code_width(key, 13), code_width(file)) for key, file, _ in rows)
    shapes, middle = [text(MARGIN, MARGIN + 12, operator, "it-value")], MARGIN + wide / 2
    for i, (key, file, source) in enumerate(rows):
        y = MARGIN + 24 + i * (BOX + GAP)
        shapes += [path("M", middle, y - GAP, "v", GAP - 7), arrow_head(middle, y)] if i else []
        shapes.append(rect(MARGIN, y, wide, BOX, "it-pill it-dashed" if source == "generated" else "it-pill", 3))
        shapes += [text(MARGIN + 12, y + 18, key, "it-name"), text(MARGIN + 12, y + 35, file, "it-value it-note")]
    desc = f"Kernels of {operator}, from the highest key down: " + "; ".join(", ".join(row) for row in rows) + "."
    columns = ["key", "registered in", "source"]
    return figure([group("it-3", *shapes)], wide + 2 * MARGIN, y + BOX + MARGIN, title, desc, columns, rows)
