"""What a live tensor adds to its storage, read by address, and the storage as a strip of cells."""

from itertools import product
from typing import NamedTuple

import torch

from inside_torch.drawing.checks import checked_dict
from inside_torch.drawing.layout import CELL, widest
from inside_torch.drawing.svg import cell

MOST_CELLS = 32  # more do not fit a page


class Reading(NamedTuple):
    """A tensor as it lies over its storage; strides, offset and indices count elements."""

    label: str
    size: tuple
    stride: tuple
    offset: int
    positions: list  # of each element in the tensor
    indices: list  # of the storage element that each one reads
    values: list  # as text
    note: str  # what the tensor adds to its storage, as one line


def read(tensors: dict[str, torch.Tensor], most: int, dimensions: int) -> tuple:
    """At most `most` tensors over one storage: a Reading of each, what the storage holds, as text, and how wide its
    cells are: square unless a value is too long for that. Raises TypeError for what is no tensor or no text, ValueError
    for what cannot be read, for more `dimensions`, and where an address is not what the strides say."""
    checked_dict(tensors, torch.Tensor, "tensors", most)
    readings = [_read(label, tensor, dimensions) for label, tensor in tensors.items()]
    dtypes, wholes = {tensor.dtype for tensor in tensors.values()}, []
    if len(dtypes) > 1:
        raise ValueError(f"one strip has one dtype, got {sorted(map(str, dtypes))}")
    for label, tensor in tensors.items():
        if tensor.untyped_storage().nbytes() % tensor.itemsize:
            raise ValueError(f"the storage of {label!r} is no whole number of {tensor.dtype}")
        # The whole storage as one tensor; is_set_to then compares storage, offset, size and stride.
        wholes.append(torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage()))
        if not wholes[-1].is_set_to(wholes[0]):
            raise ValueError(f"{label!r} does not share the storage of {next(iter(tensors))!r}")
    if wholes[0].numel() > MOST_CELLS:
        raise ValueError(f"the storage has {wholes[0].numel()} elements, and at most {MOST_CELLS} can be drawn")
    values = [_value(value) for value in wholes[0].tolist()]
    return readings, values, max(CELL, widest(values, 12) + 5)


def _read(label: str, tensor: torch.Tensor, most: int) -> Reading:
    """Where each element lies: the distance of its address to the storage's start, in bytes, over the element size."""
    if tensor.layout != torch.strided or tensor.is_nested or tensor.is_quantized:
        raise ValueError(f"{label!r} has no plain strided storage to draw ({tensor.layout})")
    storage = tensor.untyped_storage()
    if tensor.device.type != "cpu" or storage.device.type != "cpu":
        raise ValueError(f"{label!r} is on {storage.device}: only storage in CPU memory can be read")
    if tensor.is_conj() or tensor.is_neg():
        raise ValueError(f"{label!r} is a lazy view, whose values are not those of its storage")
    if not 0 < tensor.numel() <= MOST_CELLS:
        raise ValueError(f"{label!r} has {tensor.numel()} elements, and between 1 and {MOST_CELLS} can be drawn")
    if tensor.dim() > most:
        raise ValueError(f"{label!r} has {tensor.dim()} dimensions: a strip shows three, stride_steps four")
    tensor, stride, offset = tensor.detach(), tensor.stride(), tensor.storage_offset()
    positions, indices = list(product(*map(range, tensor.shape))), []
    for position in positions:
        index, rest = divmod(tensor[position].data_ptr() - storage.data_ptr(), tensor.itemsize)
        if rest or index != offset + sum(p * s for p, s in zip(position, stride)):
            raise ValueError(f"{label!r}{list(position)} is not where its strides say")
        indices.append(index)
    values, note = [_value(tensor[position].item()) for position in positions], f"stride {stride}, offset {offset}"
    return Reading(label, tuple(tensor.shape), stride, offset, positions, indices, values, note)


def _value(value) -> str:
    """A number as a cell shows it: integers as they are, others with up to six digits."""
    return str(value) if isinstance(value, int) else f"{value:g}"


def describe(values: list, readings: list, dtype: torch.dtype) -> str:
    """What is to be seen, in sentences, for those who do not see it."""
    said = f"A storage of {len(values)} elements of {dtype}: {', '.join(values)}."
    for r in readings:
        said += f" {r.label} has size {r.size}, stride {r.stride} and offset {r.offset}, and reads storage indices "
        said += f"{', '.join(map(str, r.indices))}, in the order of its elements."
    return said


def strip(values: list, readings: list, x, y, side) -> list:
    """The storage: a cell per element, index above. A cell is filled in the tone of the tensor that
    reads it; where several do, it is shared out from top to bottom, in the order of the tensors."""
    shapes = []
    for index, value in enumerate(values):
        readers = [i for i, reading in enumerate(readings, 1) if index in reading.indices]
        shapes += cell(x + index * side, y, side, value, tones=readers, index=index)
    return shapes
