"""Figures of checkpointing: what the number of segments does to the bytes of a step and to its work."""

from itertools import pairwise
from weakref import WeakSet

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.checkpoint import checkpoint_sequential

from inside_torch.drawing.checks import checked
from inside_torch.drawing.layout import MARGIN, NARROW, ROOM, spread
from inside_torch.drawing.svg import circle, group, path, rect, text, through

from .boxes import laid_out

HIGH, LEFT, APART = 170, 46, 58  # a plot: its height, the room for the numbers beside it, the room between two
MOST = 9  # numbers of segments, each with its place below the plot


class _Meter(TorchDispatchMode):
    """The bytes of the storages that are alive, the most there were, and how many operators that autograd records."""

    def __init__(self, *known: torch.Tensor):
        super().__init__()
        self.alive, self.peak, self.calls = WeakSet(t.untyped_storage() for t in known), 0, 0

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        result = op(*args, **(kwargs or {}))
        made = [t for t in tree_leaves(result) if isinstance(t, torch.Tensor)]
        self.alive.update(t.untyped_storage() for t in made)
        self.peak = max(self.peak, self.now())
        self.calls += torch.is_grad_enabled() and not op.is_view  # what backward itself computes is not recorded
        return result

    def now(self) -> int:
        return sum(storage.nbytes() for storage in self.alive)


def segment_curves(net: nn.Sequential, x: torch.Tensor, counts: list[int], *, title: str) -> str:
    """Two plots over the number of segments that `checkpoint_sequential` makes of a network, the first of them 1. Left:
    the KiB alive at the worst moment of forward and backward, and what forward keeps for backward, parameters not
    counted. Right: how many operators of forward backward calls again. All are measured, while `net(x)` runs. Raises
    TypeError for what is no Sequential or no tensor, ValueError for counts that do not rise from 1 and where a gradient
    is another one than without checkpoints."""
    checked(net, nn.Sequential, "the network")
    checked(x, torch.Tensor, "the input")
    rises = all(a < b for a, b in pairwise(counts))
    if not (2 <= len(counts) <= MOST and counts[0] == 1 and rises and counts[-1] <= len(net)):
        raise ValueError(f"2 to {MOST} counts rise from 1 to {len(net)} at most, got {counts}")
    rows, right = [], None
    for count in counts:
        *row, gradients = _measured(net, x, count)
        right = right or gradients
        if not all(map(torch.equal, gradients, right)):
            raise ValueError(f"with {count} segments a gradient is another one than without checkpoints")
        rows.append([count, *row])
    best = min(rows, key=lambda row: row[2])
    desc = f"Without checkpoints, one segment, the peak is {rows[0][1]:,} KiB and {rows[0][2]:,} are kept for backward."
    desc += f" Least is kept with {best[0]} segments: {best[2]:,} KiB, with a peak of {best[1]:,}"
    desc += f" and {best[3]} operators called again."
    plots = {"KiB": {"peak": 1, "kept": 2}, "operators called again": {"in backward": 3}}

    def draw(wide: bool) -> tuple:
        shapes, low, columns, width = [], 0, *((2, ROOM / 2 - APART) if wide else (1, NARROW - APART))
        for i, (name, curves) in enumerate(plots.items()):
            x0, y = MARGIN + LEFT + i % columns * (width + APART), MARGIN + 26 + i // columns * (HIGH + 122)
            low, most = y + HIGH, max(row[column] for column in curves.values() for row in rows)
            across = [x0 + width * (k + 0.5) / len(rows) for k in range(len(rows))]
            shapes += [text(x0, y - 10, name, "it-name"), rect(x0, y, width, HIGH, "it-edge")]
            shapes += [text(at, low + 17, str(row[0]), "it-value", "middle") for at, row in zip(across, rows)]
            shapes.append(text(x0 + width / 2, low + 37, "number of segments", "it-value", "middle"))
            up, marks = lambda value, low=low, most=most: low - (HIGH - 16) * value / most, {}
            for tone, (label, column) in enumerate(curves.items(), 1):
                dots = [(at, up(row[column])) for at, row in zip(across, rows)]
                least, at = min(rows, key=lambda row, column=column: row[column]), low + 37 + 19 * tone
                marks |= {row[column]: tone for row in (rows[0], least, rows[-1])}
                line = [path(*through(dots)), *(circle(*dot, 3, "it-head") for dot in dots)]
                if tone < 3 and least[column]:
                    line.append(circle(*dots[rows.index(least)], 7, "it-line"))
                    label += f", least with {least[0]}"
                line += [path("M", x0, at - 4, "h", 26), text(x0 + 32, at, label, "it-value")]
                shapes.append(group(f"it-{tone}", *line))
            apart = spread([up(value) for value in sorted(marks, reverse=True)], [14] * len(marks), 1)
            for value, at in zip(sorted(marks, reverse=True), apart):
                said = text(x0 - 6, at + 4, f"{value:,}", "it-step", "end")
                shapes.append(group(f"it-{marks[value]}", said))
        return shapes, MARGIN + columns * (width + APART) + 2, low + 82

    return laid_out(title, desc, ["segments", "peak KiB", "kept KiB", "operators called again"], rows, draw)


def _measured(net: nn.Sequential, x: torch.Tensor, count: int) -> tuple:
    """KiB at the peak, KiB kept when forward returns without the parameters, operators called again, gradients."""
    parameters, one = list(net.parameters()), torch.ones(())
    with _Meter(x, *parameters) as meter:
        y = checkpoint_sequential(net, count, x, use_reentrant=False) if count > 1 else net(x)
        loss = y.sum()
        del y
        kept, forward = meter.now() - sum(p.nbytes for p in parameters), meter.calls
        gradients = torch.autograd.grad(loss, parameters, one)
    return meter.peak // 1024, kept // 1024, meter.calls - forward, gradients
