"""Figures of a storage: with the tensors that lie over it, and with the steps that strides take along it."""

from itertools import product

import torch

from inside_torch.drawing.layout import CELL, MARGIN, NARROW, PHONE, code_width, fan, spread
from inside_torch.drawing.svg import arrow, circle, figure, group, path, rect, s_curve, text

from .boxes import extent
from .reading import Reading, describe, read, strip

LANE = 4  # between two lines that run beside a column of cells
ROW = CELL + 2  # from one row of a tensor to the next
FILLED = "filled: the cells that the tensor reads"
PLANES = 12  # between two planes of a tensor, which stand side by side


class Grid:
    """A tensor as rows of cells, above its storage or below it. Beside each column is a lane for every row but one:
    left of the column above the strip and right of it below, so that lines of row after row arrive side by side."""

    def __init__(self, reading: Reading, cell: int, below: bool):
        planes, self.rows, columns = (1,) * (3 - len(reading.size)) + reading.size
        self.reading, self.cell, self.below = reading, cell, below
        self.lanes = LANE * (self.rows - 1) + 3 if self.rows > 1 else 0
        pitch = cell + self.lanes
        self.width, self.height = planes * columns * pitch + (planes - 1) * PLANES, self.rows * ROW
        self.words = max(code_width(reading.label, 13), code_width(reading.note))
        self.numbered = 16 * (len(reading.size) == 3)  # height of the numbers of the planes
        left, places = 0 if below else self.lanes, product(range(planes), range(self.rows), range(columns))
        # The upper left corners of the cells.
        self.corners = [(left + p * (columns * pitch + PLANES) + c * pitch, row * ROW) for p, row, c in places]
        self.left = sum((index + 0.5) * cell for index in reading.indices) / len(reading.indices) - self.width / 2

    def drop(self, left) -> int:
        """Height between the grid and the strip: far lines need more of it to be told apart."""
        far = max(abs(left + x - index * self.cell) for (x, _), index in zip(self.corners, self.reading.indices))
        return round(min(92, 40 + far / 4))

    def cells(self, left, top) -> list:
        """The elements as rounded cells; planes of three dimensions carry their number."""
        shapes = []
        for (x, y), position, value in zip(self.corners, self.reading.positions, self.reading.values):
            shapes.append(rect(left + x + 1, top + y + 1, self.cell - 2, CELL - 2, "it-element", 6))
            shapes.append(text(left + x + self.cell / 2, top + y + 18, value, "it-value", "middle"))
            if len(position) == 3 and not any(position[1:]):
                number_y = top + self.height + 12 if self.below else top - 5
                shapes.append(text(left + x + 1, number_y, f"[{position[0]}]", "it-index"))
        return shapes

    def lines(self, left, top, strip_x, edge) -> list:
        """A line from each element to its cell. The row next to the strip leaves straight; the others
        leave sideways and run down (or up) in a lane of their own beside the column."""
        cell, indices, toward = self.cell, self.reading.indices, 1 if self.below else -1
        starts, ends, out = [], {}, top - 2 if self.below else top + self.height
        for x, y in self.corners:
            away = y // ROW if self.below else self.rows - 1 - y // ROW  # rows between this one and the strip
            beside = left + x + cell * self.below + toward * LANE * (away - 0.25)
            starts.append(beside if away else left + x + cell / 2)
        for index in set(indices):
            here = sorted((start, i) for i, start in enumerate(starts) if indices[i] == index)
            for (_, i), shift in zip(here, fan(len(here), LANE, cell - 6)):
                ends[i] = strip_x + (index + 0.5) * cell + shift
        shapes = []
        for i, (start, (x, y)) in enumerate(zip(starts, self.corners)):
            way, side = ("M", start, out), left + x + (cell - 2 if self.below else 2)
            if start != left + x + cell / 2:
                bend = ("q", toward * 3, 0, toward * 3, -toward * 3, "V", out)
                way = ("M", side, top + y + CELL / 2 + 1, "H", start - toward * 3, *bend)
            shapes += [path(*way, *s_curve(start, out, ends[i], edge)), circle(ends[i], edge, 1.8, "it-head")]
        return shapes


def storage_strip(tensors: dict[str, torch.Tensor], *, title: str) -> str:
    """One storage as a strip of cells, with one to three tensors over it as grids; a line joins each element to the
    cell it reads. The first tensor is drawn above the strip, the others below. `tensors` maps label to tensor, at most
    three dimensions each, all over one storage of at most 32 elements. Raises TypeError for what is no tensor or no
    text, ValueError for the rest."""
    readings, values, cell = read(tensors, most=3, dimensions=3)
    grids = [Grid(reading, cell, below=i > 0) for i, reading in enumerate(readings)]
    lefts, texts = _places(grids, cell * len(values))
    drops = [grid.drop(left) for grid, left in zip(grids, lefts)]
    word = _place_of_word(readings[1:], cell, len(values))
    x, above = MARGIN + max(0, -word, -min(lefts + texts)), MARGIN + 34 + grids[0].numbered
    y = above + grids[0].height + drops[0] + 18
    below = y + CELL + max(drops[1:], default=0)
    body = strip(values, readings, x, y, cell)
    body.append(text(x + word, y + (17 if word < 0 else CELL + 14), "storage", "it-note"))
    for i, (grid, left, text_x) in enumerate(zip(grids, lefts, texts)):
        top, edge, name_y = above, y - 17, MARGIN + 11
        if i:
            top, edge, name_y = below, y + CELL + 3, below + grid.height + 18 + grid.numbered
        shapes = [*grid.lines(x + left, top, x, edge), *grid.cells(x + left, top)]
        shapes.append(text(x + text_x, name_y, grid.reading.label, "it-name"))
        shapes.append(text(x + text_x, name_y + 16, grid.reading.note, "it-note"))
        body.append(group(f"it-{i + 1}", *shapes))
    desc = describe(values, readings, next(iter(tensors.values())).dtype)
    rows = [[r.label, list(at), i, v] for r in readings for at, i, v in zip(r.positions, r.indices, r.values)]
    columns = ["tensor", "element", "storage index", "value"]
    return figure(body, *extent(body, 12), title, desc, columns, rows)


def _places(grids: list, width) -> tuple:
    """Left edges of the grids and of their text, from the strip's own: over the cells they read, inside the strip
    where there is room; negative where a grid is wider than the strip."""
    lefts = [min(max(0, grid.left), width - grid.width) if grid.width <= width else grid.left for grid in grids]
    starts = [lefts[0] + grids[0].lanes, *lefts[1:]]  # where the cells begin
    texts = [min(left, max(0, width - grid.words)) for left, grid in zip(starts, grids)]
    if len(grids) == 3:  # two side by side
        widths = [max(grid.width, grid.words) for grid in grids[1:]]
        centres = spread([left + wide / 2 for left, wide in zip(lefts[1:], widths)], widths, 24)
        lefts[1:] = texts[1:] = [centre - wide / 2 for centre, wide in zip(centres, widths)]
    return lefts, texts


def _place_of_word(below: list, cell, count: int) -> int:
    """Where, from the strip's left edge, the word storage meets no line under the strip; negative
    is the width that it needs on the left when there is no such place."""
    used, needs = {index for reading in below for index in reading.indices}, -(-code_width("storage") // cell)
    for start in [0, count - needs]:
        if start >= 0 and not used & set(range(start, start + needs)):
            return start * cell
    return -code_width("storage") - 4 if below else 0


def stride_steps(tensor: torch.Tensor, *, name: str, title: str) -> str:
    """The strip of the tensor's storage and, from the tensor's first element, the step that each dimension's stride
    takes; the storage offset as a bracket. Cells that the tensor reads are filled. Up to four dimensions, so that a
    memory format can be drawn; a dimension of size one, which is never stepped, is stated in words. Raises as
    storage_strip does."""
    (reading,), values, cell = read({name: tensor}, most=1, dimensions=4)
    size, stride, offset = reading.size, reading.stride, reading.offset
    # The shortest step is nearest to the strip, so that no two lines cross, and the labels stand to their left.
    taken = sorted((d for d in range(len(size)) if size[d] > 1), key=lambda d: stride[d])
    rows, desc = [], [describe(values, [reading], tensor.dtype)]
    for d in range(len(size)):
        to = offset + stride[d]
        rows.append([d, size[d], stride[d], offset, to if d in taken else None])
        if d in taken:
            desc.append(f"One step along dimension {d} is {stride[d]}, from index {offset} to index {to}.")
        else:
            desc.append(f"Dimension {d} has size {size[d]}, so its stride {stride[d]} is never taken.")
    body, short = _steps_drawn(reading, values, taken, cell), max(NARROW // len(values), *map(code_width, values))
    width, height = extent(body, 12)
    small = _steps_drawn(reading, values, taken, min(short, cell), beside=True) if width > PHONE else []
    columns = ["dimension", "size", "stride", "first step from index", "to index"]
    narrow = (small, *extent(small, 12)) if small else ()
    return figure(body, width, height, title, " ".join(desc), columns, rows, narrow)


def _steps_drawn(reading: Reading, values: list, taken: list, cell, beside: bool = False) -> list:
    """The shapes of a strip and its steps. `beside`: the labels stand right of their steps, and the
    offset in the line above alone, which needs no room left of the strip."""
    size, stride, offset = reading.size, reading.stride, reading.offset
    notes = [f"stride({d}) = {stride[d]}, never taken: size {size[d]}" for d in range(len(size)) if d not in taken]
    words = [f"offset {offset}"] * (offset > 0) + [f"stride({d}) = {stride[d]}" for d in taken]
    overhang = 0 if beside else max(map(code_width, words), default=0) + 9 - int((offset + 0.5) * cell)
    x, y, low = MARGIN + max(0, overhang), MARGIN + 66, MARGIN + 66 + CELL + 3
    steps, bottom = _steps(reading, taken, x + (offset + 0.5) * cell, low, cell, beside)
    shapes = [text(MARGIN, MARGIN + 11, reading.label, "it-name")]
    shapes += [*_bracket(offset, x, low, cell, not beside), *steps]
    heads = [f"size {size}, {reading.note}", FILLED]
    body = [text(MARGIN, MARGIN + 26 + 16 * i, note, "it-note") for i, note in enumerate(heads)]
    body += [*strip(values, [reading], x, y, cell), group("it-1", *shapes)]
    body += [text(MARGIN, bottom + 24 + 17 * i, note, "it-note") for i, note in enumerate(notes)]
    return body


def _steps(reading: Reading, taken: list, first, low, cell, beside: bool) -> tuple:
    """An arrow for each step from the first element, one below the other, and the lowest line."""
    stride, shapes, y = reading.stride, [], low + (22 if reading.offset else 0)
    furthest = first + max((stride[d] for d in taken), default=0) * cell + 8  # no longer step crosses a label there
    for dim in taken:
        y += 24
        twins = [d for d in taken if stride[d] == stride[dim]]
        loop = 9 * (stride[dim] == 0)  # a stride of 0 comes back
        end = first + stride[dim] * cell + loop + fan(len(twins), 8, 8)[twins.index(dim)]
        bend = min(8, (end - first) / 2)
        turns = ("Q", first, y, first + bend, y, "H", end - bend, "Q", end, y, end, y - bend)
        shapes += arrow(end, low, "up", "M", first, low, "V", y - bend, *turns)
        label = f"stride({dim}) = {stride[dim]}"
        right = furthest if furthest + code_width(label) <= NARROW else end + 8
        at, anchor = (right, "start") if beside else (first - 8, "end")
        shapes.append(text(at, y + 4, label, "it-step", anchor))
    return shapes, y


def _bracket(offset: int, x, y, cell, labelled: bool) -> list:
    """A dashed bracket under the cells before the first element; nothing when there are none."""
    if not offset:
        return []
    label, end = f"offset {offset}" * labelled, x + offset * cell - 2
    at, anchor = ((x + end) / 2, "middle") if end - x > code_width(label) else (end + cell / 2 - 6, "end")
    sides = path("M", x, y + 1, "V", y + 9, "M", end, y + 1, "V", y + 9)
    middle = path("M", x, y + 5, "H", end, kind="it-line it-dashed")
    return [sides, middle, *([text(at, y + 22, label, "it-step", anchor)] * labelled)]
