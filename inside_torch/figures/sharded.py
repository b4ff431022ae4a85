"""Sharding over one training step: what a rank holds when, and which collectives make units whole."""

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from inside_torch.drawing.checks import checked, checked_dict
from inside_torch.drawing.layout import MARGIN, NARROW, READ, ROOM, code_width
from inside_torch.drawing.svg import group, path, rect, text

from .boxes import laid_out

KINDS = {"AG": "all-gather", "F": "forward", "B": "backward", "RS": "reduce-scatter"}
LEGEND = [*(f"{key} {said}" for key, said in KINDS.items()), "filled: gathered"]
COLLECTIVES = {"_allgather_base_": "AG", "_reduce_scatter_base_": "RS"}
FILLED, EDGE = "it-element", "it-edge"  # of a bar, from its top: the bands
BANDS = {
    "gathered": ("it-1", FILLED),
    "gradients": ("it-2", FILLED),
    "shards": ("it-1", EDGE),
    "state": ("it-3", FILLED),
}
HIGH, BARS, WIDEST = 30, 120, 16  # of a cell, of the largest bar; the most events


def shard_timeline(model: nn.Module, optimizer, units: dict[str, nn.Module], x: torch.Tensor, *, title: str) -> str:
    """A row for each unit and a column for each collective, forward and backward of a unit, in the order in which they
    happen in `model(x).sum().backward()` on this rank, and a last column for the optimizer's step, all of a second
    step. A cell is filled while the unit's parameters are whole. Bars stack the bytes that are there when the event
    ends: of those, of gradients, whole and in shards, of shards, and of state, without activations, step counters and
    the copies that a collective makes.
    `fully_shard` was applied to each unit and to the model, over any group, as `fake`.
    Raises TypeError for a unit that is not sharded, ValueError for two of one size (their collectives could not be told
    apart), for parameters outside of all units or padded, for an optimizer without the shards, for a unit that computes
    without its parameters, where more than shards are left at the end, and for too many events. Source: what a dispatch
    mode and hooks see, and storages of private groups."""
    from torch.distributed.fsdp import FSDPModule  # an import of seconds, which other figures do not need

    for unit in checked_dict(units, FSDPModule, "units", 4).values():
        checked(unit, nn.Module, "a unit")
    sizes = [sum(p.numel() for p in one.parameters()) for one in (model, *units.values())]
    if sizes[0] != sum(sizes[1:]) or len(set(sizes)) < len(sizes) - (len(units) == 1):
        raise ValueError(f"units differ in size and have all parameters of the model, got {sizes[1:]} of {sizes[0]}")
    stepped = [w for one in checked(optimizer, torch.optim.Optimizer, "optimizer").param_groups for w in one["params"]]
    if {*stepped} != {*model.parameters()}:
        raise ValueError("the optimizer does not have the shards of the model")
    rows = _recorded(model, optimizer, units, dict(zip(sizes[1:], units)), checked(x, torch.Tensor, "x"))
    if len(rows) > WIDEST:
        raise ValueError(f"{len(rows)} events are too many for a figure")
    said = [f"{KINDS.get(kind, kind)} {name}".strip() + f", {sum(held)} bytes" for kind, name, *held in rows]
    draw = lambda wide: (_wide if wide else _narrow)(rows, list(units))  # noqa: E731
    desc = f"In order: {'; '.join(said)}."
    return laid_out(title, desc, ["event", "unit", *units, *list(BANDS)[1:]], rows, draw, kind="it-1 it-large")


def _recorded(model: nn.Module, optimizer, units: dict, names: dict, x: torch.Tensor) -> list:
    """Each event's kind, its unit, the bytes of each unit that is whole then and of other BANDS; `names` by size."""
    rows, handles = [], []
    params = [p for unit in units.values() for p in unit._get_fsdp_state()._fsdp_param_group.fsdp_params]

    def note(kind, name, arriving=0, reduced=()):
        whole = [_whole(unit) or (arriving if other == name else 0) for other, unit in units.items()]
        if kind in ("F", "B") and not whole[list(units).index(name)]:
            raise ValueError(f"{name} computes without its parameters")
        state = [t for one in optimizer.state.values() for t in one.values() if t.ndim]
        grads = [w.grad for p in params for w in (p.sharded_param, getattr(p, "_unsharded_param", p.sharded_param))]
        grads += [one.reduce_scatter_input for one in model._get_fsdp_state()._comm_ctx.reduce_scatter_states]
        rows.append([kind, name, *whole, *map(_held, ([*grads, *reduced], [p.sharded_param for p in params], state))])

    class Collectives(TorchDispatchMode):
        def __torch_dispatch__(self, op, types, args=(), kwargs=None):
            kind = COLLECTIVES.get(op.overloadpacket.__name__) if op.namespace == "c10d" else None
            if kind:
                buffer = max(args[:2], key=torch.Tensor.numel)  # of output and input, the one for the whole unit
                if buffer.numel() not in names:
                    raise ValueError(f"no unit has {buffer.numel()} parameters: padded, or outside of the units")
                name, arriving = names[buffer.numel()], buffer.nbytes if kind == "AG" else 0
                note(kind, name, arriving, args[:2] if kind == "RS" else ())
            return op(*args, **(kwargs or {}))

    def watch(name):
        def forward(module, args, output):
            output.register_hook(lambda grad: note("B", name))

        handles.append(units[name].register_forward_pre_hook(lambda module, args: note("F", name)))
        handles.append(units[name].register_forward_hook(forward))
        for p in units[name]._get_fsdp_state()._fsdp_param_group.fsdp_params:  # B ends when all gradients are there
            handles.append(p._unsharded_param.register_post_accumulate_grad_hook(lambda _: note(*rows.pop()[:2])))

    model(x).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    for name in units:
        watch(name)
    try:
        with Collectives():
            model(x).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    optimizer.step()
    note("step", "")
    *whole, gradients, shards, state = rows[-1][2:]
    if any(whole) or gradients != shards or state % shards:
        raise ValueError(f"after the step: {whole} whole, {gradients} of gradients, {shards} shards, {state} of state")
    return rows


def _held(tensors: list) -> int:
    """The bytes of the storages of tensors, or of their shards; None among them is no tensor."""
    stores = [getattr(t, "_local_tensor", t).untyped_storage() for t in tensors if t is not None]
    return sum({store.data_ptr(): store.nbytes() for store in stores}.values())


def _whole(unit) -> int:
    """The bytes of the unit's whole parameters, or 0 while the rank has its shards alone."""
    group = unit._get_fsdp_state()._fsdp_param_group
    buffers = [t.untyped_storage().size() for p in group.fsdp_params for t in p.all_gather_outputs]
    waiting = group._all_gather_result
    return sum(buffers) or (waiting.all_gather_output.nbytes if waiting else 0)


def _cell(x, y, width, whole: bool, said: str) -> list:
    shape = rect(x, y, width, HIGH - 4, "it-element" if whole else "it-edge", 3)
    return [shape, text(x + width / 2, y + 18, said, "it-name", "middle")] if said else [shape]


def _parts(row: list) -> list:
    """The bytes of each part of a bar from its foot, those of each whole unit at its top, and their bands."""
    return [part for part in zip(row[:1:-1], [*BANDS.values()][::-1] + [BANDS["gathered"]] * len(row)) if part[0]]


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
            shapes += _cell(left + step * j, y, step - 4, bool(whole[i]), kind if unit in (name, "") else "")
        y += HIGH
    most, low, x = max(sum(row[2:]) for row in rows), y + 54 + BARS, left
    for band, (tone, kind) in BANDS.items():
        shapes += [group(tone, rect(x, y + 2, 14, 12, kind)), text(x + 20, y + 12, band, "it-value")]
        x += code_width(band, READ) + 44
    shapes.append(text(MARGIN, low, "bytes", "it-value"))
    for j, row in enumerate(rows):
        x, high = left + step * j, low
        for size, (tone, kind) in _parts(row):
            high -= size / most * BARS
            shapes.append(group(tone, rect(x, high, step - 4, size / most * BARS, kind)))
        shapes.append(text(x + step / 2 - 2, high - 4, str(sum(row[2:])), "it-value", "middle"))
    shapes.append(path("M", left, low, "H", ROOM + MARGIN, kind="it-edge"))
    return shapes, ROOM + 2 * MARGIN, low + MARGIN


def _narrow(rows: list, names: list) -> tuple:
    """Time runs down, and bars to the right."""
    column, shapes, y = max(code_width(name, READ) for name in names), [], MARGIN
    left = MARGIN + (column + 6) * len(names) + 4
    for i, name in enumerate(names):
        shapes.append(text(MARGIN + (column + 6) * i + column / 2, y + 12, name, "it-value", "middle"))
    shapes.append(text(left, y + 12, "bytes", "it-value"))
    most, y = max(sum(row[2:]) for row in rows), y + 22
    for row in rows:
        for i, name in enumerate(names):
            said = row[0] if row[1] in (name, "") else ""
            shapes += _cell(MARGIN + (column + 6) * i, y, column, bool(row[2 + i]), said)
        x, room = left, NARROW - left - code_width(str(most), READ)
        for size, (tone, kind) in _parts(row):
            shapes.append(group(tone, rect(x, y + 3, size / most * room, HIGH - 10, kind)))
            x += size / most * room
        shapes.append(text(x + 4, y + 18, str(sum(row[2:])), "it-value"))
        y += HIGH
    for i, said in enumerate([*LEGEND, "", *BANDS]):
        x, at = MARGIN + 150 * (i % 2), y + 16 + 20 * (i // 2)
        if said in BANDS:
            shapes.append(group(BANDS[said][0], rect(x, at - 10, 14, 12, BANDS[said][1])))
        shapes.append(text(x + 20 * (said in BANDS), at, said, "it-value"))
    return shapes, NARROW + 2 * MARGIN, y + 116
