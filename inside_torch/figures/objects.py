"""The figure of the objects behind a tensor, from Python to the allocator, with the reference counts of each side."""

import sys

import torch

from inside_torch.drawing.checks import checked_dict
from inside_torch.drawing.layout import MARGIN, ROOM, widest
from inside_torch.drawing.svg import arrow, arrow_head, curve_right, group, path, s_curve, text

from .boxes import LINE, Box, Place, laid_out

PAD = 8  # around text
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
    return laid_out(title, desc, ["object", "holds"], rows, _draw, levels, edges)


def _draw(levels: list, edges: list, wide: bool) -> list:
    """The levels from left to right where it is wide, else from top to bottom."""
    widths = [widest(line for card in level for line in card) + 2 * PAD for level in levels]
    heights = [max(len(card) for card in level) * LINE + PAD for level in levels]
    along, over, apart = (widths, heights, APART) if wide else (heights, widths, BESIDE)
    pitch = max(over[1], over[4]) + apart
    room = pitch * max(map(len, levels)) - apart
    gap = max(LEAST, (ROOM - sum(widths)) / (len(levels) - 1)) if wide else APART
    shapes, places = [], {}
    for i, level in enumerate(levels):
        for j, lines in enumerate(level):
            start, first = sum(along[:i]) + gap * i, (room - over[i]) / 2 + (j - (len(level) - 1) / 2) * pitch
            x, y = (start, first) if wide else (first, start)
            places[i, j] = Place(MARGIN + x, MARGIN + y, widths[i], heights[i])
            # Tensors are rounded and in their tone, memory is a cell, the others are plain.
            kind, radius = ("it-element", 8) if i < 2 else ("it-tab" if lines[0] == "memory" else "it-pill", 3)
            tone = f"it-{j + 1}" if i < 2 else "it-3"
            shapes += Box(lines, kind, lines[0], tone, "start", radius).drawn(places[i, j], PAD)
    return [*shapes, *(group("it-3", *_edge(places[a], places[b], wide, a[0] == b[0])) for a, b in edges)]


def _edge(a: Place, b: Place, wide: bool, same: bool) -> list:
    """An arrow from box to box. Between two of one level it says base, and goes against the order of the level."""
    if same and wide:
        return [*arrow(a.middle, b.low, "up", "M", a.middle, a.y), text(a.middle + 8, a.y - 11, "base", "it-note")]
    if same:
        word = text((a.x + b.right) / 2, a.level - 8, "base", "it-note", "middle")
        return [*arrow(b.right, a.level, "left", "M", a.x, a.level), word]
    if wide:
        return curve_right(a.right, a.level, b.x, b.level)
    x, y = b.middle, b.y
    return [path("M", a.middle, a.low, *s_curve(a.middle, a.low, x, y - 6)), arrow_head(x, y)]
