"""Sharding over one training step: which units are whole on a rank when, and which collectives make them so."""

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from inside_torch.drawing.checks import checked, checked_dict
from inside_torch.drawing.layout import MARGIN, NARROW, READ, ROOM, code_width
from inside_torch.drawing.svg import path, rect, text

from .boxes import laid_out

KINDS = {"AG": "all-gather", "F": "forward", "B": "backward", "RS": "reduce-scatter"}
LEGEND = [*(f"{key} {said}" for key, said in KINDS.items()), "filled: whole"]
COLLECTIVES = {"_allgather_base_": "AG", "_reduce_scatter_base_": "RS"}
HIGH, BARS, WIDEST = 30, 44, 16  # of a cell, of the largest bar; the most events


def shard_timeline(model: nn.Module, units: dict[str, nn.Module], x: torch.Tensor, *, title: str) -> str:
    """A row for each unit and a column for each collective, forward and backward of a unit, in the order in which they
    happen in `model(x).sum().backward()` on this rank; a cell is filled while the unit's parameters are whole, and the
    bars are the bytes of those. `fully_shard` was applied to each unit and to the model, over any group, as `fake`.
    Raises TypeError for a unit that is not sharded, ValueError for two of one size (their collectives could not be told
    apart), for parameters outside of all units or padded, for a unit that computes without its parameters or is whole
    at the end, and for too many events. Source: what a dispatch mode and hooks see, and storages of private groups."""
    from torch.distributed.fsdp import FSDPModule  # an import of seconds, which other figures do not need

    for unit in checked_dict(units, FSDPModule, "units", 4).values():
        checked(unit, nn.Module, "a unit")
    sizes = [sum(p.numel() for p in one.parameters()) for one in (model, *units.values())]
    if sizes[0] != sum(sizes[1:]) or len(set(sizes)) < len(sizes) - (len(units) == 1):
        raise ValueError(f"units differ in size and have all parameters of the model, got {sizes[1:]} of {sizes[0]}")
    rows = _recorded(model, units, dict(zip(sizes[1:], units)), checked(x, torch.Tensor, "x"))
    if len(rows) > WIDEST:
        raise ValueError(f"{len(rows)} events are too many for a figure")
    said = [f"{KINDS[kind]} {name}, {sum(whole)} bytes" for kind, name, *whole in rows]
    draw = lambda wide: (_wide if wide else _narrow)(rows, list(units))  # noqa: E731
    desc = f"In order: {'; '.join(said)}."
    return laid_out(title, desc, ["event", "unit", *units], rows, draw, kind="it-1 it-large")


def _recorded(model: nn.Module, units: dict, names: dict, x: torch.Tensor) -> list:
    """Each event's kind, its unit, and the bytes of each unit's parameters that are whole then; `names` by size."""
    rows, handles = [], []

    def note(kind, name, arriving=0):
        whole = [_whole(unit) or (arriving if other == name else 0) for other, unit in units.items()]
        if kind in "FB" and not whole[list(units).index(name)]:
            raise ValueError(f"{name} computes without its parameters")
        rows.append([kind, name, *whole])

    class Collectives(TorchDispatchMode):
        def __torch_dispatch__(self, op, types, args=(), kwargs=None):
            kind = COLLECTIVES.get(op.overloadpacket.__name__) if op.namespace == "c10d" else None
            if kind:
                buffer = max(args[:2], key=torch.Tensor.numel)  # of output and input, the one for the whole unit
                if buffer.numel() not in names:
                    raise ValueError(f"no unit has {buffer.numel()} parameters: padded, or outside of the units")
                note(kind, names[buffer.numel()], buffer.nbytes if kind == "AG" else 0)
            return op(*args, **(kwargs or {}))

    def watch(name):
        def forward(module, args, output):
            output.register_hook(lambda grad: note("B", name))

        handles.append(units[name].register_forward_pre_hook(lambda module, args: note("F", name)))
        handles.append(units[name].register_forward_hook(forward))

    for name in units:
        watch(name)
    try:
        with Collectives():
            model(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    if any(_whole(unit) for unit in units.values()):
        raise ValueError("a unit is whole after the step")
    return rows


def _whole(unit) -> int:
    """The bytes of the unit's whole parameters, or 0 while the rank has its shards alone."""
    group = unit._get_fsdp_state()._fsdp_param_group
    buffers = [t.untyped_storage().size() for p in group.fsdp_params for t in p.all_gather_outputs]
    waiting = group._all_gather_result
    return sum(buffers) or (waiting.all_gather_output.nbytes if waiting else 0)


def _cell(x, y, width, whole: bool, said: str) -> list:
    shape = rect(x, y, width, HIGH - 4, "it-element" if whole else "it-edge", 3)
    return [shape, text(x + width / 2, y + 18, said, "it-name", "middle")] if said else [shape]


def _wide(rows: list, names: list) -> tuple:
    """Time runs to the right."""
    left = MARGIN + max(code_width(name, READ) for name in [*names, "bytes"]) + 12
    step, shapes, y = (ROOM + MARGIN - left) / len(rows), [], MARGIN
    x = left
    for said in LEGEND:
        shapes.append(text(x, y + 12, said, "it-value"))
        x += code_width(said, READ) + 16
    y += 26
    for i, name in enumerate(names):
        shapes.append(text(MARGIN, y + 18, name, "it-value"))
        for j, (kind, unit, *whole) in enumerate(rows):
            shapes += _cell(left + step * j, y, step - 4, bool(whole[i]), kind if unit == name else "")
        y += HIGH
    most, y = max(sum(row[2:]) for row in rows), y + 22
    shapes.append(text(MARGIN, y + BARS, "bytes", "it-value"))
    for j, (_, _, *whole) in enumerate(rows):
        high, x = sum(whole) / most * BARS, left + step * j
        shapes += [rect(x, y + BARS - high, step - 4, high, "it-element")] if high else []
        shapes.append(text(x + step / 2 - 2, y + BARS - high - 4, str(sum(whole)), "it-value", "middle"))
    shapes.append(path("M", left, y + BARS, "H", ROOM + MARGIN, kind="it-edge"))
    return shapes, ROOM + 2 * MARGIN, y + BARS + MARGIN


def _narrow(rows: list, names: list) -> tuple:
    """Time runs down."""
    column, shapes, y = 58, [], MARGIN
    for i, name in enumerate([*names, "bytes"]):
        shapes.append(text(MARGIN + (column + 8) * (i + 0.5) - 4, y + 12, name, "it-value", "middle"))
    y += 22
    for kind, unit, *whole in rows:
        for i, name in enumerate(names):
            shapes += _cell(MARGIN + (column + 8) * i, y, column, bool(whole[i]), kind if unit == name else "")
        end = MARGIN + (column + 8) * (len(names) + 0.5) - 4
        shapes.append(text(end, y + 18, str(sum(whole)), "it-value", "middle"))
        y += HIGH
    for i, said in enumerate(LEGEND):
        shapes.append(text(MARGIN + 150 * (i % 2), y + 16 + 20 * (i // 2), said, "it-value"))
    return shapes, NARROW + 2 * MARGIN, y + 66
