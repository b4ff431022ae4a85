"""Figures of a storage and the tensors that lie over it, read from live tensors."""

from itertools import product
from typing import NamedTuple

import torch

from .svg import (
    CELL,
    MARGIN,
    arrow_head,
    checked_label,
    code_width,
    element,
    fan,
    figure,
    group,
    path,
    rect,
    s_curve,
    spread,
    text,
)

MOST_CELLS = 32  # more do not fit a page
LANE = 4  # between two lines that run beside a column of cells
ROW = CELL + 2  # from one row of a tensor to the next


class Reading(NamedTuple):
    """A tensor as it lies over its storage; strides, offset and indices count elements."""

    label: str
    size: tuple
    stride: tuple
    offset: int
    elements: list  # of (position in the tensor, storage index it reads, value as text)

    @property
    def note(self) -> str:
        """What the tensor adds to its storage, as one line."""
        return f"stride {self.stride}, offset {self.offset}"


def storage_strip(tensors: dict[str, torch.Tensor], *, title: str) -> str:
    """One storage as a strip of cells, with one to three tensors over it as grids; a line joins
    each element to the cell it reads. The first tensor is drawn above the strip, the others below.

    `tensors` maps label to tensor, at most three dimensions each, all over one storage of at most
    32 elements. Raises TypeError for what is no tensor or no text, ValueError for the rest.
    """
    if not isinstance(tensors, dict):
        raise TypeError(f"tensors must be a dict of label to tensor, got {type(tensors).__name__}")
    if not 1 <= len(tensors) <= 3:
        raise ValueError(f"a strip takes one to three tensors, got {len(tensors)}")
    readings = [_read(label, tensor) for label, tensor in tensors.items()]
    if len({reading.label.strip() for reading in readings}) < len(readings):
        raise ValueError(f"labels must differ by more than blanks, got {list(tensors)}")
    for reading in readings:
        if len(reading.size) > 3:
            raise ValueError(
                f"{reading.label!r} has {len(reading.size)} dimensions, and a page shows three: "
                "pass a part of it, such as x[0], or draw its strides with stride_steps"
            )
    values = _shared_values(tensors)
    cell = _cell_width(values)
    above, below = readings[0], readings[1:]

    places = _places(readings, cell, strip_width=cell * len(values))
    drops = [_drop(reading, places[i][0], cell, below=i > 0) for i, reading in enumerate(readings)]
    room = _storage_label_room(below, cell, len(values))
    strip_x = MARGIN + max(0, -room, -min(map(min, places)))
    above_y = MARGIN + 34 + 16 * (len(above.size) == 3)
    strip_y = above_y + _grid(above, cell)[1] + drops[0] + 18
    below_y = strip_y + CELL + max(drops[1:], default=0)

    label_y = strip_y + (17 if room < 0 else CELL + 14)
    body = [
        *_strip(values, readings, strip_x, strip_y, cell),
        text(strip_x + room, label_y, "storage", "it-note"),
    ]
    right = strip_x + max(cell * len(values), room + code_width("storage"))
    bottom = strip_y + CELL + 18
    for i, reading in enumerate(readings):
        left, text_x = (strip_x + place for place in places[i])
        top, edge, name_y = above_y, strip_y - 17, MARGIN + 11
        if i:
            top, edge = below_y, strip_y + CELL + 3
            name_y = top + _grid(reading, cell)[1] + 18 + 16 * (len(reading.size) == 3)
            bottom = max(bottom, name_y + 20)
        ends = [_grid(reading, cell)[0], code_width(reading.label, 13), code_width(reading.note)]
        right = max(right, left + ends[0], text_x + max(ends[1:]))
        body.append(
            group(
                f"it-{i + 1}",
                *_lines(reading, left, top, strip_x, edge, cell, below=i > 0),
                *_tensor(reading, left, top, cell, below=i > 0),
                text(text_x, name_y, reading.label, "it-name"),
                text(text_x, name_y + 16, reading.note, "it-note"),
            )
        )
    return figure(
        body,
        right + MARGIN,
        bottom + MARGIN,
        title=title,
        desc=_describe(values, readings, next(iter(tensors.values())).dtype),
        columns=["tensor", "element", "storage index", "value"],
        rows=[
            [reading.label, list(position), index, value]
            for reading in readings
            for position, index, value in reading.elements
        ],
    )


def stride_steps(tensor: torch.Tensor, *, name: str, title: str) -> str:
    """The strip of the tensor's storage and, from the tensor's first element, the step that each
    dimension's stride takes; the storage offset as a bracket. Cells that the tensor reads are
    filled. Up to four dimensions, so that a memory format can be drawn; a dimension of size one,
    which is never stepped, is stated in words. Raises as storage_strip does.
    """
    reading = _read(name, tensor)
    size, stride, offset = reading.size, reading.stride, reading.offset
    if len(size) > 4:
        raise ValueError(f"{name!r} has {len(size)} dimensions, and a page shows four")
    values = _shared_values({name: tensor})
    cell = _cell_width(values)
    dims = range(len(size))
    # The longest step is nearest to the strip, so that no line passes through a label.
    steps = sorted((d for d in dims if size[d] > 1), key=lambda d: -stride[d])
    labels = {d: f"stride({d}) = {stride[d]}" for d in dims}

    strip_x, strip_y = MARGIN + _offset_overhang(offset, cell), MARGIN + 48
    first, low = strip_x + (offset + 0.5) * cell, strip_y + CELL + 3
    note = f"size {size}, {reading.note}"
    shapes, ends = _offset_bracket(offset, strip_x, low, cell), []
    y = low + (8 if steps else 22 * (offset > 0))
    for dim in steps:
        y += 24
        twins = [d for d in steps if stride[d] == stride[dim]]
        landings = [x + first + stride[dim] * cell for x in fan(len(twins), 8, 8)]
        if not stride[dim]:  # a stride of 0 comes back: a loop
            landings = [x + 9 for x in landings]
        end, label_x = landings[twins.index(dim)], landings[-1] + 8
        bend = min(8, (end - first) / 2)
        shapes += [
            path("M", end, y - 8, "V", low + 9, kind="it-bridge"),
            path("M", first, low, "V", y - bend, "Q", first, y, first + bend, y,
                 "H", end - bend, "Q", end, y, end, y - bend, "V", low + 6),
            arrow_head(end, low, up=True),
            text(label_x, y + 4, labels[dim], "it-step"),
        ]  # fmt: skip
        ends.append(label_x + code_width(labels[dim]))
    notes = [f"{labels[d]}, never taken: size {size[d]}" for d in dims if d not in steps]
    body = [
        text(MARGIN, MARGIN + 26, note, "it-note"),
        *_strip(values, [reading], strip_x, strip_y, cell),
        group("it-1", text(MARGIN, MARGIN + 11, name, "it-name"), *shapes),
        *(text(MARGIN, y + 24 + 17 * i, said, "it-note") for i, said in enumerate(notes)),
    ]
    ends += [MARGIN + code_width(said) for said in [note, *notes]] + [MARGIN + code_width(name, 13)]
    return figure(
        body,
        max(strip_x + cell * len(values), *ends) + MARGIN,
        y + 12 + (17 * len(notes) + 6 if notes else 0),
        title=title,
        desc=" ".join(
            [_describe(values, [reading], tensor.dtype)]
            + [
                f"One step along dimension {d} is {stride[d]}, from index {offset} to index {offset + stride[d]}."
                if d in steps
                else f"Dimension {d} has size {size[d]}, so its stride {stride[d]} is never taken."
                for d in dims
            ]
        ),
        columns=["dimension", "size", "stride", "first step from index", "to index"],
        rows=[[d, size[d], stride[d], offset, offset + stride[d] if d in steps else None] for d in dims],
    )


def _read(label: str, tensor: torch.Tensor) -> Reading:
    """Where each element of a live tensor lies, by its address. Raises where nothing can be read.

    `data_ptr` counts bytes; the distance to the storage's start over the element size is the index.
    """
    checked_label(label, "a tensor's label")
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{label!r} must be a torch.Tensor, got {type(tensor).__name__}")
    if tensor.layout != torch.strided or tensor.is_nested or tensor.is_quantized:
        raise ValueError(f"{label!r} has no plain strided storage to draw ({tensor.layout})")
    if tensor.device.type != "cpu" or tensor.untyped_storage().device.type != "cpu":
        device = tensor.untyped_storage().device
        raise ValueError(f"{label!r} is on {device}: only storage in CPU memory can be read")
    if tensor.is_conj() or tensor.is_neg():
        raise ValueError(f"{label!r} is a lazy view, whose values are not those of its storage")
    if not 0 < tensor.numel() <= MOST_CELLS:
        raise ValueError(f"{label!r} has {tensor.numel()} elements, and between 1 and {MOST_CELLS} can be drawn")
    tensor = tensor.detach()
    stride, offset = tensor.stride(), tensor.storage_offset()
    base = tensor.untyped_storage().data_ptr()
    elements = []
    for position in product(*map(range, tensor.shape)):
        there = tensor[position]
        index, rest = divmod(there.data_ptr() - base, tensor.itemsize)
        if rest or index != offset + sum(p * s for p, s in zip(position, stride)):
            raise ValueError(f"{label!r}{list(position)} is not where its strides say")
        elements.append((position, index, _value(there.item())))
    return Reading(label, tuple(tensor.shape), stride, offset, elements)


def _value(value) -> str:
    """A number as a cell shows it: integers as they are, others with up to six digits."""
    return str(value) if isinstance(value, int) else f"{value:g}"


def _shared_values(tensors: dict[str, torch.Tensor]) -> list:
    """What the one storage under the tensors holds, as text, read from the storage itself."""
    dtypes = {tensor.dtype for tensor in tensors.values()}
    if len(dtypes) > 1:
        raise ValueError(f"one strip has one dtype, got {sorted(map(str, dtypes))}")
    # The whole storage as one tensor; is_set_to then compares storage, offset, size and stride.
    for label, t in tensors.items():
        if t.untyped_storage().nbytes() % t.itemsize:
            raise ValueError(f"the storage of {label!r} is no whole number of {t.dtype}")
    wholes = [torch.empty(0, dtype=t.dtype).set_(t.untyped_storage()) for t in tensors.values()]
    for label, whole in zip(tensors, wholes):
        if not whole.is_set_to(wholes[0]):
            raise ValueError(f"{label!r} does not share the storage of {next(iter(tensors))!r}")
    if wholes[0].numel() > MOST_CELLS:
        raise ValueError(f"the storage has {wholes[0].numel()} elements, and at most {MOST_CELLS} can be drawn")
    return [_value(value) for value in wholes[0].tolist()]


def _describe(values: list, readings: list, dtype: torch.dtype) -> str:
    """What is to be seen, in sentences, for those who do not see it."""
    return " ".join(
        [f"A storage of {len(values)} elements of {dtype}: {', '.join(values)}."]
        + [
            f"{r.label} has size {r.size}, stride {r.stride} and offset {r.offset}, and reads "
            f"storage indices {', '.join(str(index) for _, index, _ in r.elements)}, in the order "
            "of its elements."
            for r in readings
        ]
    )


def _cell_width(values: list) -> int:
    """Cells are square unless a value is too long for that."""
    return max(CELL, max(map(code_width, values)) + 5)


def _strip(values: list, readings: list, x, y, cell) -> list:
    """The storage: a cell per element, index above. A cell is filled in the tone of the tensor that
    reads it; where several do, it is shared out from top to bottom, in the order of the tensors."""
    shapes = []
    for index, value in enumerate(values):
        left = x + index * cell
        readers = [i for i, r in enumerate(readings) if index in {e[1] for e in r.elements}]
        shapes.append(rect(left, y, cell, CELL, "it-cell"))
        for slot, i in enumerate(readers):
            high = CELL / len(readers)
            filled = rect(left + 0.5, y + slot * high, cell - 1, high, "it-fill")
            shapes.append(group(f"it-{i + 1}", filled))
        shapes.append(rect(left, y, cell, CELL, "it-edge"))
        shapes.append(text(left + cell / 2, y - 4, str(index), "it-index", "middle"))
        shapes.append(text(left + cell / 2, y + 17, value, "it-value", "middle"))
    return shapes


def _offset_overhang(offset: int, cell) -> int:
    """How far the offset's label sticks out on the left of the strip."""
    return max(0, code_width(f"offset {offset}") + 9 - int((offset + 0.5) * cell)) if offset else 0


def _offset_bracket(offset: int, x, y, cell) -> list:
    """A dashed bracket under the cells before the first element; nothing when there are none."""
    if not offset:
        return []
    label, end = f"offset {offset}", x + offset * cell - 2
    wide = end - x > code_width(label)
    at, anchor = ((x + end) / 2, "middle") if wide else (end + cell / 2 - 6, "end")
    return [
        path("M", x, y + 1, "V", y + 9, "M", end, y + 1, "V", y + 9, kind="it-line"),
        path("M", x, y + 5, "H", end, kind="it-line it-dashed"),
        text(at, y + 22, label, "it-step", anchor),
    ]


def _shape(reading: Reading) -> tuple:
    """Planes, rows and columns a tensor of up to three dimensions is drawn with."""
    return (1,) * (3 - len(reading.size)) + reading.size


def _pitch(reading: Reading, cell) -> int:
    """From one column to the next: beside each column is a lane for every row but one."""
    lanes = _shape(reading)[1] - 1
    return cell + (LANE * lanes + 3 if lanes else 0)


def _grid(reading: Reading, cell) -> tuple:
    """Width and height of the cells of a tensor; planes stand side by side."""
    planes, rows, columns = _shape(reading)
    return planes * columns * _pitch(reading, cell) + (planes - 1) * 12, rows * ROW


def _corners(reading: Reading, left, top, cell, below: bool) -> list:
    """Upper left corner of each element's cell, in the order of the elements. The lanes are left of a column
    above the strip and right of one below it: lines of row after row then arrive side by side."""
    planes, rows, columns = _shape(reading)
    pitch = _pitch(reading, cell)
    left += 0 if below else pitch - cell
    return [
        (left + plane * (columns * pitch + 12) + column * pitch, top + row * ROW)
        for plane, row, column in product(range(planes), range(rows), range(columns))
    ]


def _places(readings: list, cell, strip_width) -> list:
    """Left edges (of the grid, of its text) of each tensor, from the strip's own: over the cells it
    reads, inside the strip where there is room; negative where a grid is wider than the strip.
    """
    grids = [_grid(reading, cell)[0] for reading in readings]
    said = [max(code_width(r.label, 13), code_width(r.note)) for r in readings]
    wanted = []
    for reading, grid in zip(readings, grids):
        middle = sum((e[1] + 0.5) * cell for e in reading.elements) / len(reading.elements)
        left = middle - grid / 2
        wanted.append(min(max(0, left), strip_width - grid) if grid <= strip_width else left)
    cells = [wanted[0] + _pitch(readings[0], cell) - cell, *wanted[1:]]  # where the cells begin
    texts = [min(left, max(0, strip_width - text_width)) for left, text_width in zip(cells, said)]
    if len(readings) < 3:
        return list(zip(wanted, texts))
    widths = [max(pair) for pair in zip(grids[1:], said[1:])]
    centres = [left + width / 2 for left, width in zip(wanted[1:], widths)]
    lefts = [c - width / 2 for c, width in zip(spread(centres, widths, 24), widths)]
    return [(wanted[0], texts[0]), *zip(lefts, lefts)]


def _storage_label_room(below: list, cell, count: int) -> int:
    """Where, from the strip's left edge, the word storage meets no line under the strip; negative
    is the width that it needs on the left when there is no such place."""
    read = {index for reading in below for _, index, _ in reading.elements}
    needs = -(-code_width("storage") // cell)
    for start in [0, count - needs]:
        if start >= 0 and not read & set(range(start, start + needs)):
            return start * cell
    return 0 if not below else -code_width("storage") - 4


def _drop(reading: Reading, left, cell, below: bool) -> int:
    """Height between a tensor and the strip: far lines need more of it to be told apart."""
    corners = _corners(reading, left, 0, cell, below)
    far = max(abs(x - e[1] * cell) for (x, _), e in zip(corners, reading.elements))
    return round(min(92, 40 + far / 4))


def _lines(reading: Reading, left, top, strip_x, edge, cell, below: bool) -> list:
    """A line from each element to its cell. The row next to the strip leaves straight; the others
    leave sideways and run down (or up) in a lane of their own beside the column."""
    rows = _shape(reading)[1]
    grid_edge = top - 2 if below else top + rows * ROW
    starts = []
    for i, (x, y) in enumerate(_corners(reading, left, top, cell, below)):
        row = round((y - top) / ROW)
        lane = LANE * ((row if below else rows - 1 - row) - 0.25)
        beside = x + cell + lane if below else x - lane
        starts.append((beside if lane > 0 else x + cell / 2, i, x, y))
    arrivals = {}
    for index in {e[1] for e in reading.elements}:
        here = sorted(s[:2] for s in starts if reading.elements[s[1]][1] == index)
        for (_, i), shift in zip(here, fan(len(here), LANE, cell - 6)):
            arrivals[i] = strip_x + (index + 0.5) * cell + shift
    shapes = []
    for start, i, x, y in starts:
        way, bend = ("M", start, grid_edge), y + CELL / 2 + 1
        if start > x + cell:  # beside a column below the strip: to the right and up
            way = ("M", x + cell - 2, bend, "H", start - 3, "q", 3, 0, 3, -3, "V", grid_edge)
        elif start < x:  # above it: to the left and down
            way = ("M", x + 2, bend, "H", start + 3, "q", -3, 0, -3, 3, "V", grid_edge)
        shapes.append(path(*way, *s_curve(start, grid_edge, arrivals[i], edge)))
        shapes.append(element("circle", class_="it-head", cx=arrivals[i], cy=edge, r=1.8))
    return shapes


def _tensor(reading: Reading, left, top, cell, below: bool) -> list:
    """The elements of a tensor as rounded cells; planes of three dimensions carry their index."""
    shapes = []
    corners = _corners(reading, left, top, cell, below)
    for (x, y), (position, _, value) in zip(corners, reading.elements):
        shapes.append(rect(x + 1, y + 1, cell - 2, CELL - 2, "it-element", 6))
        shapes.append(text(x + cell / 2, y + 18, value, "it-value", "middle"))
        if len(position) == 3 and not any(position[1:]):
            label_y = top + _shape(reading)[1] * ROW + 12 if below else top - 5
            shapes.append(text(x + 1, label_y, f"[{position[0]}]", "it-index"))
    return shapes
