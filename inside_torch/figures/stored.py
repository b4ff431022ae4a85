"""Figure of the sparse layouts: a dense matrix, and the tensors that each layout stores for it.

The parts are those that the accessors of a sparse tensor return (`indices`, `crow_indices`, ..., documented in
torch/_tensor_docs.py). Each part is read back into a matrix by index arithmetic, which has to give the dense one.
"""

from collections import defaultdict
from itertools import pairwise

import torch

from inside_torch.drawing.checks import checked_dict
from inside_torch.drawing.layout import CELL, MARGIN, READ, code_width
from inside_torch.drawing.svg import cell, group, number, path, rect, text

from .boxes import extent, laid_out

NUMBERED = 14  # height of the numbers above a strip
APART = 40  # between two panels that stand side by side
BESIDE = code_width("crow_indices", READ) + 10  # left of a strip: its name
HATCHED = "hatched: a stored zero"
COMPRESSED = {
    torch.sparse_csr: ("crow_indices", "col_indices"),
    torch.sparse_bsr: ("crow_indices", "col_indices"),
    torch.sparse_csc: ("ccol_indices", "row_indices"),
    torch.sparse_bsc: ("ccol_indices", "row_indices"),
}


def parts_of(x: torch.Tensor) -> tuple:
    """What a sparse matrix stores: index tensors by name, the values, and the place (row, column) of each value."""
    if x.layout is torch.sparse_coo:
        rows, columns = x._indices().tolist()
        named = {"indices[0]": rows, "indices[1]": columns}
        return named, x._values(), list(zip(rows, columns))
    ends, others = (getattr(x, name)().tolist() for name in COMPRESSED[x.layout])
    high, wide = x.values().shape[1:] or (1, 1)
    flipped, places = x.layout in (torch.sparse_csc, torch.sparse_bsc), []
    for i, (begin, end) in enumerate(pairwise(ends)):
        for j in others[begin:end]:
            top, left = (j, i) if flipped else (i, j)
            places += [(top * high + r, left * wide + c) for r in range(high) for c in range(wide)]
    return dict(zip(COMPRESSED[x.layout], (ends, others))), x.values(), places


def stored_parts(matrices: dict[str, torch.Tensor], *, title: str) -> str:
    """A dense matrix as a grid, and up to three sparse forms of it as strips: their index tensors and their values,
    tinted by the row of the matrix that each belongs to, and hatched where a zero is stored. Brackets below compressed
    rows or columns say which entries belong to which. `matrices` maps label to matrix, the dense one first, with
    whole numbers, at most 8 columns and three rows that are not empty. Raises TypeError for what is no tensor,
    ValueError for the rest, also where the parts of a sparse matrix do not give the dense one."""
    (name, dense), *others = checked_dict(matrices, torch.Tensor, "matrices", most=4).items()
    if dense.layout is not torch.strided or dense.dim() != 2 or dense.shape[1] > 8:
        raise ValueError("the first matrix must be a dense one of at most 8 columns")
    filled = sorted({row for row, _ in dense.nonzero().tolist()})
    if len(filled) > 3:
        raise ValueError(f"three rows at most may have elements, got {len(filled)}")
    tones = {row: f"it-{i + 1}" for i, row in enumerate(filled)}
    sizes = [x.values().shape[1:] for _, x in others if x.layout in COMPRESSED and x.values().dim() == 3]
    panels, table = [_grid(name, dense, tones, sizes[0] if sizes else ())], []
    for label, x in others:
        if x.layout not in (torch.sparse_coo, *COMPRESSED) or x.shape != dense.shape:
            raise ValueError(f"{label!r} is no sparse matrix of the same shape")
        named, values, places = parts_of(x)
        read = defaultdict(int)
        for (row, column), value in zip(places, values.flatten().tolist()):
            read[row, column] += value
        if any(dense[i, j] != read[i, j] for i in range(len(dense)) for j in range(dense.shape[1])):
            raise ValueError(f"the parts of {label!r} do not give the dense matrix")
        panels.append(_panel(label, named, values, places, tones, x.layout))
        parts = {**named, "values": values.int().tolist()}
        table += [[label, part, list(entries)] for part, entries in parts.items()]

    def stacked(wide: bool) -> tuple:
        columns = 2 if wide else 1
        sizes = [extent(panel, 12) for panel in panels]
        body, y, step = [], MARGIN, max(width for width, _ in sizes) - MARGIN + APART
        for i in range(0, len(panels), columns):
            for j, panel in enumerate(panels[i : i + columns]):
                body.append(group("it-panel", *panel, transform=f"translate({MARGIN + j * step} {number(y)})"))
            y += max(height for _, height in sizes[i : i + columns]) - MARGIN + 22
        return body, columns * step - APART + 2 * MARGIN, y - 22 + MARGIN

    desc = f"A matrix of {tuple(dense.shape)} and what " + ", ".join(label for label, _ in others) + " store for it."
    return laid_out(title, desc, ["layout", "part", "entries"], table, stacked, kind="")


def _cell(x, y, value, tone: str = "", hatched: bool = False, index="") -> str:
    """A square cell, with the fill and the edge of its row where it belongs to one."""
    marks = [rect(x + 1.5, y + 1.5, CELL - 3, CELL - 3, "it-element")] if tone else []
    if hatched:
        lines = [("M", x, y + d, "L", x + d, y, "M", x + CELL, y + d, "L", x + d, y + CELL) for d in (9, 18)]
        marks.append(path(*(step for line in lines for step in line), kind="it-edge"))
    style = "it-value" if tone or hatched else "it-value it-note"
    return group(tone or "it-plain", *cell(x, y, CELL, f"{value:g}", *marks, index=index, style=style))


def _what(layout: torch.layout) -> str:
    """What a compressed layout compresses."""
    what = "row" if layout in (torch.sparse_csr, torch.sparse_bsr) else "column"
    return f"block {what}" if layout in (torch.sparse_bsr, torch.sparse_bsc) else what


def _ranges(layout: torch.layout, ends: list, step, gap, y) -> list:
    """Below the entries of a compressed layout: a bracket for each row that has some, with its number."""
    shapes = [text(0, y + 18, _what(layout), "it-value")]
    for i, (begin, end) in enumerate(pairwise(ends)):
        left, right = BESIDE + step * begin + 2, BESIDE + step * end - gap - 2
        if begin < end:
            shapes.append(path("M", left, y, "V", y + 5, "H", right, "V", y, kind="it-edge"))
            shapes.append(text((left + right) / 2, y + 18, str(i), "it-value", "middle"))
    return shapes


def _grid(name: str, x: torch.Tensor, tones: dict, block: tuple) -> list:
    """The dense matrix with the numbers of its rows and columns, and heavy lines around blocks of this size, where
    there is one."""
    shapes, top, left = [text(0, 12, name, "it-name")], 18 + NUMBERED, 16
    for i, row in enumerate(x.tolist()):
        shapes.append(text(left - 6, top + CELL * i + 17, str(i), "it-index", "end"))
        shapes += [_cell(left + CELL * j, top + CELL * i, v, tones[i] if v else "") for j, v in enumerate(row)]
    shapes += [text(left + CELL * (j + 0.5), top - 4, str(j), "it-index", "middle") for j in range(x.shape[1])]
    right, bottom = left + CELL * x.shape[1], top + CELL * len(x)
    if block:
        lines = [("M", left, top + CELL * i, "H", right) for i in range(0, len(x) + 1, block[0])]
        lines += [("M", left + CELL * j, top, "V", bottom) for j in range(0, x.shape[1] + 1, block[1])]
        shapes.append(path(*(step for line in lines for step in line), kind="it-pill"))
        shapes.append(text(left, bottom + 18, "heavy lines: blocks", "it-note"))
    return shapes


def _panel(label: str, named: dict, values: torch.Tensor, places: list, tones: dict, layout: torch.layout) -> list:
    """One sparse matrix: its index tensors, then its values, each with positions above. In COO all index tensors have
    an entry for each value; in a compressed layout the first has one for each row or column, and an end."""
    shapes, y = [text(0, 12, label, "it-name")], 18
    blocks = values.reshape(len(values), -1, values.shape[-1] if values.dim() > 1 else 1)
    rows, each = [tones.get(row, "") for row, _ in places], blocks[0].numel()
    gap = 8 * (each > 1)
    wide = CELL * blocks.shape[2] + gap
    for part, entries in named.items():
        tinted, first = rows if each == 1 else [], part == COMPRESSED.get(layout, "?")[0]
        if first:
            tinted = [tones.get(i, "") for i in range(len(entries) - 1)] if layout is torch.sparse_csr else []
        for i, entry in enumerate(entries):
            left = BESIDE + (CELL if first or each == 1 else wide) * i
            above = "end" if first and i == len(entries) - 1 else i
            shapes.append(_cell(left, y + NUMBERED, entry, tinted[i] if i < len(tinted) else "", index=above))
        shapes.append(text(0, y + NUMBERED + 17, part, "it-value"))
        if first:
            shapes.append(text(BESIDE - 6, y + NUMBERED - 4, _what(layout), "it-index", "end"))
        y += NUMBERED + CELL + 4
    shapes.append(text(0, y + NUMBERED + 17, "values", "it-value"))
    for i, block in enumerate(blocks.tolist()):
        left = BESIDE + wide * i
        shapes.append(text(left + CELL * blocks.shape[2] / 2, y + NUMBERED - 4, str(i), "it-index", "middle"))
        for r, row in enumerate(block):
            for c, value in enumerate(row):
                tone = rows[i * each + r * len(row) + c] if value else ""
                shapes.append(_cell(left + CELL * c, y + NUMBERED + CELL * r, value, tone, not value))
    y += NUMBERED + CELL * blocks.shape[1]
    if layout in COMPRESSED:
        shapes += _ranges(layout, next(iter(named.values())), wide, gap, y + 4)
        y += 26
    if not values.all():
        shapes.append(text(BESIDE, y + 14, HATCHED, "it-note"))
    return shapes
