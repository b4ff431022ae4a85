"""The figure of a key set as the 64-bit number that it is: a bit for each backend and for each functionality, and the
keys that its bits make together. Read from the running dispatcher (c10/core/DispatchKeySet.h)."""

import torch

from .checks import checked
from .drawing import figure, group, rect, text
from .layout import CELL, MARGIN, NARROW, ROOM, code_width

ROW, LINE = 16, 20  # bits in a row, and from one line of the key to the next
LAST = 46  # the highest functionality, PythonDispatcher, in c10/core/DispatchKey.h


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
    drawn = [_draw(found, rows, wide) for wide in (True, False)]
    if drawn[0][1] > ROOM + 2 * MARGIN or drawn[1][1] > NARROW + 2 * MARGIN:
        raise ValueError(f"the names are too long: {ROOM} px can be drawn, on a phone {NARROW}")
    return figure(*drawn[0], title, desc, ["bit", "functionality", "keys"], rows, drawn[1])


def _made(functionality: int, backends: list[int]) -> list[str]:
    """The keys that a functionality makes in this set: one for each backend if it is one of those that have a key for
    each, and else itself."""
    made = []
    for backend in backends:
        # The functionality's bit and one backend's, taken out of the full set, name the key.
        one = torch._C.DispatchKeySet.from_raw_repr(1 << functionality | 1 << backend)
        made.append(torch._C._dispatch_key_name(one.highestPriorityTypeId()))
    return [", ".join(dict.fromkeys(made))]


def _draw(found: list, rows: list, wide: bool) -> tuple:
    """The shapes, their width and height."""
    cell, size = (CELL + 4, 13) if wide else (20, 12)
    left = MARGIN + (code_width("functionalities", 13) + 8 if wide else 0)
    shapes, top = [], MARGIN
    for row in reversed(range(4)):
        kind = {3: "functionalities", 0: "backends"}.get(row)  # a phone has them above a row, and no room beside it
        if kind and wide:
            shapes.append(text(left - 8, top + cell / 2 + 4, kind, "it-value it-note", "end"))
        elif kind:
            shapes.append(text(left, top + 12, kind, "it-value it-note"))
            top += LINE
        for place in range(ROW):
            i, x = row * ROW + ROW - 1 - place, left + place * cell
            shapes.append(rect(x, top, cell, cell, "it-element" if i in found else "it-cell"))
            shapes += [] if i in found else [rect(x, top, cell, cell, "it-edge")]
            kind = "it-value" if i in found else "it-value it-note"
            said = i in found or place in (0, ROW - 1)
            shapes += [text(x + cell / 2, top + cell / 2 + 4, str(i), kind, "middle")] if said else []
        top += cell + 6
    right, y, backends = left + ROW * cell, top + LINE, [i for i in reversed(found) if i < ROW]
    columns = [left + 22, left + (48 if wide else 28) + max(code_width(name, 13) for _, name, _ in rows)]
    for x, said in zip(columns, ("bit's name", "key")):
        shapes.append(text(x, y, said, "it-value it-note"))
    for i, name, made in rows:
        y += LINE
        shapes.append(text(columns[0] - 6, y, str(i), "it-value", "end"))
        shapes.append(text(columns[0], y, name, "it-name"))
        keys = made.split(", ")
        if wide and i >= ROW and made != name and len(backends) == 1:  # made of two bits
            keys = [f"{made} ({i} + {backends[0]})"]
        keys = [", ".join(keys)] if wide else keys
        for line, key in enumerate(keys):
            y += LINE if line else 0
            shapes.append(text(columns[1], y, key, "it-value it-note" if i < ROW else "it-value"))
            right = max(right, columns[1] + code_width(key, size))
    return [group("it-1 it-large" if wide else "it-1", *shapes)], right + MARGIN, y + 8 + MARGIN
