"""The figures of copies: the order of elements in memory before and after one, and a copy that waits for a write."""

from itertools import pairwise
from typing import NamedTuple

import torch

from inside_torch.drawing.checks import checked_dict, checked_label
from inside_torch.drawing.layout import CELL, MARGIN, NARROW, ROOM, code_width, widest
from inside_torch.drawing.svg import arrow_head, cell, curve_right, group, path, rect, s_curve, text

from .boxes import Box, Place, extent, laid_out
from .reading import read

TEXT, HIGH, MOST, TONES = 13, 30, 12, 3  # size of text, height of a cell, cells that fit a phone, tones
WAITS, OWN = "copy on write", "its own memory"  # what a storage says of itself
GAP, CARD, PITCH = 22, 50, 72  # room for an arrow, height of a storage, from one storage to the next


class State(NamedTuple):
    """Tensors and their memory, at one time."""

    shared: bool  # whether all their storages lead to one memory
    storages: dict  # label -> what its storage says of itself
    values: dict  # label -> of its memory, as text


def memory_order(tensors: dict[str, torch.Tensor], dim: int, word: str, *, title: str, small: bool = False) -> str:
    """The storages of two tensors that hold the same numbers, each in the order of memory, one below the other. A cell
    has the tone of its element's index along `dim` of the first tensor; arrows lead from the cells of index 0 to where
    the second storage has them. `word` says what an index of `dim` is, for instance a channel; `small` draws only
    what a phone shows, for a note that folds.

    Raises as storage_strip does, and ValueError for one storage instead of two, for a tensor that does not read each
    cell of its storage once, for numbers that are not the same or not distinct, for more indices than tones, for arrows
    that would cross, and for what does not fit."""
    checked_dict(tensors, torch.Tensor, "tensors", most=2)
    checked_label(word, "word")
    read_alone = [read({label: tensor}, most=1, dimensions=4) for label, tensor in tensors.items()]
    readings = [reading for (reading,), _, _ in read_alone]
    held = {reading.label: values for (reading,), values, _ in read_alone}
    if len({tensor.untyped_storage().data_ptr() for tensor in tensors.values()}) < 2:
        raise ValueError(f"{list(tensors)} do not have two storages")
    for reading in readings:
        if sorted(reading.indices) != list(range(len(held[reading.label]))):
            raise ValueError(f"{reading.label!r} does not read each cell of its storage once")
    first, (before, after) = readings[0], held.values()
    if sorted(before) != sorted(after) or len(set(before)) < len(before):
        raise ValueError(f"{list(tensors)} do not hold the same numbers, each once")
    if len(before) > MOST or first.size[dim] > TONES:
        raise ValueError(f"{first.label!r} has size {first.size}: {MOST} cells and {TONES} tones can be drawn")
    tones = {value: position[dim] for value, position in zip(first.values, first.positions)}
    ways = [(i, after.index(value)) for i, value in enumerate(before) if tones[value] == 0]
    if any(end > beside for (_, end), (_, beside) in pairwise(ways)):
        raise ValueError(f"the arrows from {first.label!r} would cross")
    rows = [[label, i, value, tones[value]] for label, values in held.items() for i, value in enumerate(values)]
    told = "; ".join(f"{label}: {', '.join(values)}" for label, values in held.items())
    desc = f"Two storages of the same numbers in the order of memory. {told}."
    columns = ["tensor", "storage index", "value", word]
    draw = lambda wide: _orders(held, tones, ways, word, NARROW if small or not wide else ROOM)  # noqa: E731
    return laid_out(title, desc, columns, rows, draw)


def _orders(held: dict, tones: dict, ways: list, word: str, room) -> list:
    """The shapes of memory_order where there is this room."""
    side, tops, shapes = min(52, room // len(tones)), (MARGIN + 36, MARGIN + HIGH + 112), []
    for (label, values), y, low in zip(held.items(), tops, (MARGIN + 12, tops[1] + HIGH + 20)):
        shapes.append(text(MARGIN, low, label, "it-name"))
        for at, value in enumerate(values):
            x = MARGIN + at * side
            mark = group(f"it-{tones[value] + 1}", rect(x + 3, y + 3, side - 6, HIGH - 6, "it-element", 6))
            shapes += cell(x, y, side, value, mark, index=at, height=HIGH)
    for start, end in ways:
        x0, x1, y, low = MARGIN + (start + 0.5) * side, MARGIN + (end + 0.5) * side, tops[0] + HIGH, tops[1] - 18
        shapes.append(group("it-1", path("M", x0, y, *s_curve(x0, y, x1, low - 6)), arrow_head(x1, low)))
    x, y = MARGIN, tops[1] + HIGH + 36
    for tone in sorted(set(tones.values())):
        said = f"{word} {tone}"
        mark = [rect(x + 3, y, 18, 18, "it-element", 6), text(x + 26, y + 14, said, "it-value")]
        shapes.append(group(f"it-{tone + 1}", *mark))
        x += 26 + code_width(said, TEXT) + 14
    if widest(tones, TEXT) > side - 6:
        raise ValueError(f"values are too wide: {side - 6} px can be drawn")
    return shapes


def lazy_copy(tensors: dict[str, torch.Tensor], write: str, *, title: str) -> str:
    """A tensor and its copy on write before and after the code `write`, which has their labels as names: each with its
    storage, and the memory that this storage leads to; one below the other, so that it fits a note that folds.

    Looking at them copies nothing: the addresses are those of `const_data_ptr`. Raises TypeError for what is no tensor,
    and ValueError for a tensor that is not a row of all the numbers of its storage, where the two do not begin as
    copies on write of one memory, where the write leaves them in one, and for what does not fit."""
    checked_dict(tensors, torch.Tensor, "tensors", most=2)
    for label, tensor in tensors.items():
        if tensor.dim() != 1 or not tensor.is_contiguous() or tensor.nbytes != tensor.untyped_storage().nbytes():
            raise ValueError(f"{label!r} is not a row of all the numbers of its storage")
    before, storages = _state(tensors), {tensor.untyped_storage()._cdata for tensor in tensors.values()}
    if len(storages) < 2 or not before.shared or set(before.storages.values()) != {WAITS}:
        raise ValueError(f"{list(tensors)} are no copies on write of one memory")
    eval(write, dict(tensors))
    after = _state(tensors)
    if after.shared:
        raise ValueError(f"{write} copied nothing")
    held = [value for state in (before, after) for values in state.values.values() for value in values]
    side = max(CELL, widest(held, TEXT) + 6)
    names, high, said = widest(tensors, TEXT) + 16, 26 + PITCH + CARD, f"after {write}"
    panels = [*_panel("before", before, names, side, MARGIN), *_panel(said, after, names, side, MARGIN + high + 24)]
    if max(extent(panels)[0] - 2 * MARGIN, code_width(said, TEXT)) > NARROW:
        raise ValueError(f"labels and values are too wide, and at most {NARROW} can be drawn")
    rows = [[name, *_told(before, name), *_told(after, name)] for name in tensors]
    desc = f"Before, both storages lead to one memory; after {write}, each to its own. "
    desc += "; ".join(f"{name} reads {old}, then {new}" for name, _, old, _, new in rows) + "."
    columns = ["tensor", "storage before", "values before", "storage after", "values after"]
    return laid_out(title, desc, columns, rows, lambda _: panels)


def _state(tensors: dict) -> State:
    """What can be seen of the tensors without asking for an address to write to, which would make the copy."""
    storages = {label: WAITS if torch._C._is_cow_tensor(tensor) else OWN for label, tensor in tensors.items()}
    values = {label: [str(value) for value in tensor.tolist()] for label, tensor in tensors.items()}
    return State(len({tensor.const_data_ptr() for tensor in tensors.values()}) == 1, storages, values)


def _told(state: State, label: str) -> list:
    return [state.storages[label], ", ".join(state.values[label])]


def _panel(said: str, state: State, names, side, y) -> list:
    """Tensors, storages and memory from left to right, below y."""
    x, card = MARGIN, code_width(OWN, TEXT) + 16
    shapes = [text(x, y + 12, said, "it-name")]
    left, at, row = x + names + GAP, x + names + card + 2 * GAP, y + 26 + CARD / 2
    for i, (label, values) in enumerate(state.values.items()):
        middle, memory = row + i * PITCH, row + (PITCH / 2 if state.shared else i * PITCH)
        shapes += Box([label], "it-element", label, f"it-{i + 1}", "start", 8).drawn(Place(x, middle - 16, names, 32))
        lines = ["StorageImpl", state.storages[label]]
        shapes += Box(lines, "it-pill", lines[0], "", "start", 3).drawn(Place(left, middle - CARD / 2, card, CARD))
        arrows = *curve_right(x + names, middle, left, middle), *curve_right(left + card, middle, at, memory)
        shapes.append(group("it-3", *arrows))
        for j, value in enumerate(values if i == 0 or not state.shared else []):
            shapes += cell(at + j * side, memory - CELL / 2, side, value)
    return shapes
