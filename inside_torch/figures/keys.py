"""Figures of the dispatcher: the key set of a call as bits and as the 64-bit number that it is, the kernels that its
keys lead to, and its way through an operator's table. Source: the running dispatcher and c10/core/DispatchKeySet.h."""

import re
from itertools import pairwise
from pathlib import PurePosixPath

import torch

from inside_torch.drawing.checks import checked
from inside_torch.drawing.layout import CELL, MARGIN, code_width
from inside_torch.drawing.svg import arrow_down, cell, path, text

from .boxes import Box, down, grid, laid_out

STAIR = 20  # from one key's name to the next
HIGH, GAP = 40, 12  # height of a key on the way, and between two of them
CALLED = 16  # more room below a kernel for how it calls the next one
ROW, LINE = 16, 20  # bits in a row, and from one line of the key to the next
LAST = 46  # the highest functionality, PythonDispatcher, in c10/core/DispatchKey.h
COMPOSITE = "math kernel"  # how `OperatorEntry` names a kernel that was registered for CompositeImplicitAutograd
PLACE = r"registered at (?P<file>\S+):(?P<line>\d+) \[(?P<kind>.+)\]"
ENTRY = re.compile(rf"^(?P<key>\w+): (?P<falls>fallthrough )?{PLACE}$", re.M)
GENERATED = re.compile(r"(?:Register\w+|VariableType_\d+|ADInplaceOrViewType_\d+|TraceType_\d+)\.cpp")


def entries(operator: str) -> dict:
    """The operator's table: key -> the match of its line."""
    return {entry["key"]: entry for entry in ENTRY.finditer(torch._C._dispatch_dump_table(operator))}


def registered(operator: str) -> dict:
    """What is registered for an operator: key -> the file of its kernel, or nothing where the key falls through."""
    table = entries(operator).items()
    return {key: "" if entry["falls"] else PurePosixPath(entry["file"]).name for key, entry in table}


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
    shapes, rows, low = [], [], MARGIN + CELL
    for i, (name, excluded) in enumerate(keys):
        x, y, taken = MARGIN + i * (CELL + 2), low + STAIR * (len(keys) - i), name == left[0]
        said = name + (" taken" if taken else " excluded" if excluded else "")
        kind, edge = "it-element" if taken else "it-cell", "it-edge it-dashed" if excluded else "it-edge"
        shapes += cell(x, MARGIN, CELL, "0" if excluded else "1", kind=kind, edge=edge)
        shapes.append(path("M", x + CELL / 2, low, "V", y - 4, "h", 8))
        shapes.append(text(x + CELL / 2 + 12, y, said, "it-name" if taken else "it-name it-note"))
        rows.append([name, "excluded" if excluded else "set", "taken" if taken else ""])
    desc = "Bits from the highest priority to the lowest: " + ", ".join(" ".join(row).strip() for row in rows) + "."
    return laid_out(title, desc, ["key", "bit", "call"], rows, lambda _: shapes, kind="it-1 it-large")


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
    boxes = [
        [Box([key, file], "it-pill it-dashed" * (why == "generated") or "it-pill", key)] for key, file, why in rows
    ]
    shapes, places = grid(boxes, top=MARGIN + 24)
    shapes += [text(MARGIN, MARGIN + 12, operator, "it-value"), *down(places.values())]
    desc = f"Kernels of {operator}, from the highest key down: " + "; ".join(", ".join(row) for row in rows) + "."
    return laid_out(title, desc, ["key", "registered in", "source"], rows, lambda _: shapes, kind="it-3 it-large")


def route(operator: str, tensor: torch.Tensor) -> list:
    """A row for each key of a call of `operator` on `tensor`, the highest first: key, who brings it, what happens
    there (excluded by the thread; dropped before any kernel runs, because its entry is a fallthrough; runs; below a
    composite kernel, which starts calls of its own, not reached), the file that registered the entry, its kind."""
    included = torch._C._dispatch_tls_local_include_set()
    excluded = torch._C._dispatch_tls_local_exclude_set()
    own = torch._C._dispatch_keys(checked(tensor, torch.Tensor, "tensor"))
    table = entries(operator)
    keys, rows = own | included, []
    while (key := keys.highestPriorityTypeId()) != torch._C.DispatchKey.Undefined:
        bringers = ["tensor"] * own.has(key) + ["thread"] * included.has(key)
        falls, file, kind = table[key.name].group("falls", "file", "kind") if key.name in table else ("", "", "")
        happens = "excluded" if not (keys - excluded).has(key) else "dropped" if falls else "runs"
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
    highest above: 1 where it is in the key set that the first kernel gets, filled where a kernel runs, dashed and 0
    where the thread excludes it or the call drops it, and who brings it. Right the entry in the operator's table, a
    box around what runs: the kind of kernel as the table names it, and the file; an arrow leads from a kernel to the
    one that it calls.

    Raises TypeError for no tensor, ValueError where no kernel runs, for a key without an entry and for names that do
    not fit."""
    rows = route(operator, tensor)
    desc = f"Keys of a call of {operator}, the highest first: "
    desc += "; ".join(f"{key}, from the {who}, {happens} ({kind} in {file})" for key, who, happens, file, kind in rows)
    columns = ["key", "brought by", "in this call", "registered in", "entry"]
    return laid_out(title, desc + ".", columns, rows, _way, operator, rows, kind="it-1 it-large")


def _way(operator: str, rows: list, wide: bool) -> list:
    runs = [happens == "runs" for _, _, happens, *_ in rows]
    boxes, gaps = [], [GAP + CALLED * (now and not later) for now, later in zip(runs, [*runs[1:], True])]
    for name, who, happens, file, kind in rows:
        taken = Box([kind, file], bold=kind) if happens == "runs" else None
        boxes.append([Box([name, who], "", name if taken else "", "", "start"), taken])
    shapes, at = grid(boxes, MARGIN + CELL, MARGIN + 24, 120 if wide else 2, gaps, 14 if wide else 8)
    called = [(at[i, 1], rows[i][4]) for i, one in enumerate(runs) if one]
    entries = called[0][0].x
    for i, (_, _, happens, *_) in enumerate(rows):
        bit, edge = ("0", "it-edge it-dashed") if happens in ("excluded", "dropped") else ("1", "it-edge")
        kind, level = "it-element" if runs[i] else "it-cell", at[i, 0].level
        said = "fallthrough" if happens == "dropped" else happens
        shapes += cell(MARGIN, level - CELL / 2, CELL, bit, kind=kind, edge="" if runs[i] else edge)
        shapes += [] if runs[i] else [text(entries + 36, level + 4, said, "it-value it-note")]
    for (above, caller), (below, _) in pairwise(called):
        shapes += arrow_down(entries + 24, above.low, below.y)
        said = "redispatch" if caller == "autograd kernel" else "calls again"
        shapes += [text(entries + 36, above.low + 16, said, "it-value")] * (below.y - above.low > HIGH)
    shapes.append(text(MARGIN, MARGIN + 12, "1: stays", "it-value it-note"))
    return [*shapes, text(entries, MARGIN + 12, operator, "it-value it-note")]


def functionalities() -> dict[int, str]:
    """The name of each bit above the backends, by its index; AutogradFunctionality for that of all Autograd keys."""
    keys = [torch._C.DispatchKey(value) for value in range(1, LAST + 1)]
    return {bits(torch._C.DispatchKeySet(key))[0]: torch._C._dispatch_key_name(key) for key in keys}


def bits(keys: torch._C.DispatchKeySet) -> list[int]:
    """The indexes of the bits that are set, the highest first."""
    raw = keys.raw_repr()
    return [i for i in reversed(range(64)) if raw >> i & 1]


def key_bits(*tensors: torch.Tensor, title: str) -> str:
    """The union of the key sets of `tensors` as 64 bits, sixteen in a row, the highest upper left; a bit that is set
    is filled; it shows its index, and so do the ends of a row. Below, for each functionality that is set, the keys that
    it makes with the backends, and the backends themselves.

    Raises TypeError for what is no tensor, ValueError for no tensors, for a set that makes other keys than the
    dispatcher says, and for names that do not fit."""
    union = torch._C.DispatchKeySet(torch._C.DispatchKey.Undefined)
    for one in tensors:
        union = union | torch._C._dispatch_keys(checked(one, torch.Tensor, "each of the tensors"))
    found, names = bits(union), functionalities()
    if not found:
        raise ValueError("a figure takes a key set with at least one bit")
    backends = [i for i in reversed(found) if i < ROW]
    rows = [[i, names[i], *_made(i, backends)] for i in found if i >= ROW]
    said = str(union).removeprefix("DispatchKeySet(").removesuffix(")").split(", ")
    if sorted(said) != sorted(key for *_, made in rows for key in made.split(", ")):
        raise ValueError(f"the bits make other keys than the dispatcher says: {said}")
    rows += [[i, *_made(ROW, [i]), "(backend)"] for i in reversed(backends)]  # Dense, the lowest one, has their names
    desc = "Bits that are set, the highest first: " + "; ".join(f"{i} {name}: {made}" for i, name, made in rows) + "."
    columns = ["bit", "functionality", "keys"]
    return laid_out(title, desc, columns, rows, _bits, found, rows, kind="it-1 it-large")


def _made(functionality: int, backends: list[int]) -> list[str]:
    """The keys that a functionality makes in this set: one for each backend if it is one of those that have a key for
    each, and else itself."""
    made = []
    for backend in backends:
        # The functionality's bit and one backend's, taken out of the full set, name the key.
        one = torch._C.DispatchKeySet.from_raw_repr(1 << functionality | 1 << backend)
        made.append(torch._C._dispatch_key_name(one.highestPriorityTypeId()))
    return [", ".join(dict.fromkeys(made))]


def _bits(found: list, rows: list, wide: bool) -> list:
    side = CELL + 4 if wide else 20
    left, top, shapes = MARGIN + (code_width("functionalities", 13) + 8 if wide else 0), MARGIN, []
    for row in reversed(range(4)):
        kind = {3: "functionalities", 0: "backends"}.get(row)  # a phone has them above a row, and no room beside it
        x, y, look = (left - 8, side / 2 + 4, ("it-value it-note", "end")) if wide else (left, 12, ("it-note",))
        shapes += [text(x, top + y, kind, *look)] if kind else []
        top += LINE if kind and not wide else 0
        for place in range(ROW):
            i = row * ROW + ROW - 1 - place
            looks = {"kind": "it-element", "edge": ""} if i in found else {"style": "it-value it-note"}
            said = str(i) if i in found or place in (0, ROW - 1) else ""
            shapes += cell(left + place * side, top, side, said, height=side, **looks)
        top += side + 6
    columns = [left + 22, left + (48 if wide else 28) + max(code_width(name, 13) for _, name, _ in rows)]
    y, backends = top + LINE, [i for i in reversed(found) if i < ROW]
    shapes += [text(x, y, said, "it-value it-note") for x, said in zip(columns, ("bit's name", "key"))]
    for i, name, made in rows:
        if wide and i >= ROW and made != name and len(backends) == 1:  # made of two bits
            made = f"{made} (bits {i}, {backends[0]})"
        shapes += [
            text(columns[0] - 6, y + LINE, str(i), "it-value", "end"),
            text(columns[0], y + LINE, name, "it-name"),
        ]
        for key in [made] if wide else made.split(", "):
            y += LINE
            shapes.append(text(columns[1], y, key, "it-value it-note" if i < ROW else "it-value"))
    return shapes
