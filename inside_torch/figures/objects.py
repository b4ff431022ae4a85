"""The figure of the objects behind a tensor, from Python to the allocator, with the reference counts of each side."""

import sys

import torch

from .checks import checked_dict
from .drawing import arrow, arrow_head, figure, group, path, rect, s_curve, text
from .layout import MARGIN, NARROW, ROOM, code_width

TEXT, LINE, PAD = 13, 18, 8  # size of text, from one line of it to the next, around it
APART, BESIDE = 30, 46  # between two objects, one below the other and side by side
LEAST = 22  # least room for an arrow


def object_chain(tensors: dict[str, torch.Tensor], *, title: str) -> str:
    """One or two tensors over one storage, as the objects that lead from Python's to the memory and its allocator, each
    with what it holds and how many references own it. Not counted are the references of `tensors`, and Python's own
    storage object, which looking at a storage creates. Raises TypeError for what is no tensor, ValueError for one
    tensor twice, for two that share no storage, for memory that no allocator of torch gave, for a first element that is
    not at its offset, and for words that do not fit."""
    checked_dict(tensors, torch.Tensor, "tensors", most=2)
    counts = [(sys.getrefcount(tensors[label]) - 2, tensors[label]._use_count()) for label in tensors]
    storage, *others = (tensor.untyped_storage() for tensor in tensors.values())
    if len({tensor._cdata for tensor in tensors.values()}) < len(tensors):
        raise ValueError(f"{list(tensors)} are one tensor")
    if any(other._cdata != storage._cdata for other in others):
        raise ValueError(f"{list(tensors)} do not share a storage")
    if not storage.resizable():
        raise ValueError(f"no allocator of torch gave the memory of {list(tensors)}")
    python, impls = [], []
    for (label, tensor), (references, owners) in zip(tensors.items(), counts):
        if tensor.data_ptr() != storage.data_ptr() + tensor.storage_offset() * tensor.itemsize:
            raise ValueError(f"{label!r} does not begin at its offset")
        fields = [f"sizes {tuple(tensor.shape)}", f"strides {tensor.stride()}", f"offset {tensor.storage_offset()}"]
        python.append([label, type(tensor).__name__, f"refcount {references}"])
        impls.append(["TensorImpl", *fields, f"use count {owners}"])
    owners = torch._C._storage_Use_Count(storage._cdata) - 1
    size, device = f"{storage.nbytes()} bytes", str(storage.device)
    levels = [python, impls, [["StorageImpl", size, f"use count {owners}"]], [["DataPtr", "address", "deleter"]]]
    levels.append([["memory", size], ["allocator", f"for {device}"]])
    edges = [((i, j), (i + 1, min(j, len(levels[i + 1]) - 1))) for i in range(3) for j in range(len(levels[i]))]
    first, *others = tensors.values()
    base = [((1, 1), (1, 0))] * any(other._base is first for other in others)
    edges += [((3, 0), (4, 0)), ((3, 0), (4, 1)), *base]
    rows = [[name, ", ".join(held)] for level in levels for name, *held in level]
    names = [*tensors, *(f"TensorImpl of {label}" for label in tensors)]
    rows = [[name, held] for name, (_, held) in zip(names, rows)] + rows[len(names) :]
    desc = "From left to right: " + "; ".join(f"{name}: {held}" for name, held in rows) + "."
    desc += " The second TensorImpl owns the first, as its base." * bool(base)
    wide, narrow = (_drawn(levels, edges, across) for across in (True, False))
    if wide[1] > ROOM + 2 * MARGIN or narrow[1] > NARROW + 2 * MARGIN:
        raise ValueError(f"the fields of {list(tensors)} are too wide: {ROOM} can be drawn, on a phone {NARROW}")
    return figure(*wide, title, desc, ["object", "holds"], rows, narrow)


def _drawn(levels: list, edges: list, across: bool) -> tuple:
    """The shapes, their width and height; `across` from left to right, else from top to bottom."""
    wide = [max(code_width(line, TEXT) for card in level for line in card) + 2 * PAD for level in levels]
    high = [max(len(card) for card in level) * LINE + PAD for level in levels]
    along, over = (wide, high) if across else (high, wide)
    apart = APART if across else BESIDE
    pitch = max(over[1], over[4]) + apart
    room = pitch * max(map(len, levels)) - apart
    gap = max(LEAST, (ROOM - sum(wide)) / (len(levels) - 1)) if across else APART
    boxes = {}  # of a card, as x, y, width, height
    for i, level in enumerate(levels):
        for j in range(len(level)):
            start, middle = sum(along[:i]) + gap * i, room / 2 + (j - (len(level) - 1) / 2) * pitch
            corner = (start, middle - over[i] / 2) if across else (middle - over[i] / 2, start)
            boxes[i, j] = (MARGIN + corner[0], MARGIN + corner[1], wide[i], high[i])
    shapes = [_card(levels[i][j], i, j, *box) for (i, j), box in boxes.items()]
    shapes += [group("it-3", *_edge(boxes[a], boxes[b], across, a[0] == b[0])) for a, b in edges]
    length = sum(along) + gap * (len(levels) - 1)
    size = (length, room) if across else (room, length)
    return [group("it-large", *shapes)], size[0] + 2 * MARGIN, size[1] + 2 * MARGIN


def _card(lines: list, level: int, number: int, x, y, width, height) -> str:
    """An object as a box of lines: a tensor's are rounded and in its tone, memory is a cell, the others are plain."""
    memory = lines[0] == "memory"
    kind, radius = ("it-element", 8) if level < 2 else ("it-cell", 0) if memory else ("it-pill", 3)
    shapes = [rect(x, y, width, height, kind, radius)] + [rect(x, y, width, height, "it-edge")] * memory
    for i, line in enumerate(lines):
        shapes.append(text(x + PAD, y + LINE * i + 17, line, "it-value" if i else "it-name"))
    return group(f"it-{number + 1}" if level < 2 else "it-3", *shapes)


def _edge(a: tuple, b: tuple, across: bool, same: bool) -> list:
    """An arrow from box to box. Between two of one level it says base, and goes against the order of the level."""
    (ax, ay, aw, ah), (bx, by, bw, bh) = a, b
    x, y = ax + aw / 2, ay + ah / 2
    if same and across:
        return [*arrow(x, by + bh, "up", "M", x, ay), text(x + 8, ay - 11, "base", "it-note")]
    if same:
        word = text((ax + bx + bw) / 2, y - 8, "base", "it-note", "middle")
        return [*arrow(bx + bw, y, "left", "M", ax, y), word]
    if across:
        x0, x1, y1 = ax + aw, bx, by + bh / 2
        middle = (x0 + x1) / 2
        return [path("M", x0, y, "C", middle, y, middle, y1, x1 - 6, y1), arrow_head(x1, y1, "right")]
    y0, x1, y1 = ay + ah, bx + bw / 2, by
    return [path("M", x, y0, *s_curve(x, y0, x1, y1 - 6)), arrow_head(x1, y1)]
