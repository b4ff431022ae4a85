"""The figure of the work in a training step: operators, bytes and FLOPs, counted while the step runs."""

from collections.abc import Callable

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode, flop_registry

from inside_torch.drawing.checks import checked_dict
from inside_torch.drawing.layout import MARGIN, NARROW, ROOM, code_width
from inside_torch.drawing.svg import group, rect, text

from .boxes import laid_out

KINDS, COLUMNS = ("matrix products", "all else"), ("operators", "bytes moved", "FLOPs")
PRODUCTS = {"mm", "addmm", "bmm", "baddbmm"}
ROW, HIGH, TEXT, SHARE = 30, 16, 13, 44  # from one row to the next, a bar, size of text, room for a percentage
MOST = 4  # phases


def step_work(phases: dict[str, Callable], *, title: str) -> str:
    """For each phase of a step a bar for its matrix products and one for all else, in three columns: their share of
    the operators of the step, of the bytes that these move, of the FLOPs that FlopCounterMode counts. All bars have one
    scale. Without a FLOP formula the third column says "not counted".

    `phases` maps a name to a function; they run once, one after another, on whatever tensors they use. Bytes moved are
    those of the tensors that an operator takes and returns, none for a view or for memory that is only allocated.
    Operators outside of aten are not counted. Raises TypeError for what is no function, ValueError for an operator with
    a FLOP formula that is no matrix product, for a count that FlopCounterMode does not share, for a step without
    FLOPs, and for names that do not fit."""
    rows = []
    for phase, run in checked_dict(phases, Callable, "phases", MOST).items():
        work = _Work()
        with FlopCounterMode(display=False) as counter, work:
            run()
        if counter.get_total_flops() != work.counts[KINDS[0]][2]:
            raise ValueError(f"{phase}: FlopCounterMode counts {counter.get_total_flops()}, the figure {work.counts}")
        rows += [[f"{phase}: {kind}", *counts] for kind, counts in work.counts.items() if counts[0]]
    sums = [sum(column) for column in zip(*(row[1:] for row in rows))]
    if not rows or not all(sums):
        raise ValueError("the step has no FLOPs, and the figure nothing to draw")
    shares = [(row[0], [count / whole for count, whole in zip(row[1:], sums)]) for row in rows]
    told = [f"{name}: {', '.join(f'{COLUMNS[i]} {_said(of, i)}' for i in range(3))}." for name, of in shares]
    return laid_out(title, " ".join(told), ["part of the step", *COLUMNS], rows, _draw, shares)


class _Work(TorchDispatchMode):
    """Counts of the operators below: how many, bytes moved, FLOPs; one list for products, one for all else."""

    def __init__(self):
        super().__init__()
        self.counts = {kind: [0, 0, 0] for kind in KINDS}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        if func.namespace != "aten":
            return out
        packet, name = func.overloadpacket, func.overloadpacket.__name__
        if packet in flop_registry and name not in PRODUCTS:
            raise ValueError(f"the figure draws matrix products, and {func} is none")
        flops = flop_registry[packet](*args, **kwargs, out_val=out) if packet in flop_registry else 0
        count = self.counts[KINDS[packet not in flop_registry]]
        for i, more in enumerate((1, _moved(func, (args, kwargs), out), flops)):
            count[i] += more
        return out


def _moved(func, given, out) -> int:
    """Bytes of the tensors that an operator takes and returns; 0 for a view and for new memory without values."""
    taken, made = ([t for t in tree_leaves(tree) if isinstance(t, torch.Tensor)] for tree in (given, out))
    storages = {t.untyped_storage()._cdata for t in taken}
    view = made and not func._schema.is_mutable and all(t.untyped_storage()._cdata in storages for t in made)
    if view or func.overloadpacket.__name__.startswith(("empty", "new_empty")):
        return 0
    return sum(t.numel() * t.itemsize for t in taken + made)


def _said(of: list, column: int) -> str:
    """A share in words: products alone have FLOPs, so a zero among these is no count."""
    if not of[column]:
        return "0%" if column < 2 else "not counted"
    return f"{of[column]:.0%}" if of[column] >= 0.005 else "<1%"


def _panel(column: int, shares: list, left, top, wide) -> list:
    """The bars of one column below its name, each with its percentage; the longest of all columns has `wide` px."""
    shapes, longest = [text(left, top + 13, COLUMNS[column], "it-name")], max(max(of) for _, of in shares)
    for i, (name, of) in enumerate(shares):
        y, length = top + 24 + ROW * i, max(of[column] / longest * wide, 1)
        tone = "it-1" if name.endswith(KINDS[0]) else "it-2"
        bar = [rect(left, y, length, HIGH, "it-element")] if of[column] else []
        shapes.append(group(tone, *bar, text(left + (length if bar else 0) + 5, y + 13, _said(of, column), "it-value")))
    return shapes


def _draw(shares: list, wide: bool) -> tuple:
    """The columns beside each other, with the names once; on a phone below each other, each with the names."""
    names, high = max(code_width(name, TEXT) for name, _ in shares) + (18 if wide else 8), 24 + ROW * len(shares) + 6
    longest = (ROOM - names) / 3 - SHARE - 6 if wide else NARROW - names - SHARE
    shapes = []
    for i in range(3):
        left, top = (MARGIN, MARGIN + i * high) if not wide else (MARGIN + i * (longest + SHARE + 6), MARGIN)
        for j, (name, _) in enumerate(shares if not (wide and i) else []):
            shapes.append(text(left, top + 24 + ROW * j + 13, name, "it-value"))
        shapes += _panel(i, shares, left + names, top, longest)
    room, least = (ROOM, 60) if wide else (NARROW, 30)
    return shapes, room + 2 * MARGIN if longest > least else 2 * room, 2 * MARGIN + (high - 6 if wide else 3 * high)
