"""Memory over one training step: which bytes are alive, and for what."""

from collections.abc import Callable
from itertools import pairwise

import torch

from inside_torch.drawing.checks import checked, checked_dict
from inside_torch.drawing.layout import MARGIN, NARROW, READ, ROOM, code_width
from inside_torch.drawing.svg import circle, group, path, rect, text

from .alive import KINDS, memory_rows
from .boxes import laid_out

TONES = (2, 2, 2, 1, 1, 3)  # of each kind: what grows with the model, with the batch, and temporaries
GROWS = {2: "grows with the model", 1: "grows with the batch", 3: "temporaries"}
# size, name, decimals; used from twice its size on
UNITS = ((1, "bytes", 0), (2**10, "KiB", 0), (2**20, "MiB", 2), (2**30, "GiB", 2))
LETTER = 0.56  # em: the mean advance of the sans serif of labels


def memory_timeline(
    phases: dict[str, Callable],
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    batch: tuple,
    *,
    title: str,
) -> str:
    """The bytes of CPU memory alive over one training step, stacked by kind. `phases` are the calls of the step in
    order, one of them `forward`; each is drawn equally wide, and one allocation or free is one step to the right. They
    run twice, and the second run is drawn: what the profiler counts, or for a model of fake tensors the storages that
    operators return. A gradient or a state is a block that `grad` or the optimizer holds at the end, an activation is
    any other block that `forward` makes, and the rest are temporaries. Raises ValueError where the kinds do not add up
    to what the allocator counts, where a block is left that is of no kind, and where what is held at the end was not
    allocated there. Source: the tree of the profiler's events."""
    if "forward" not in checked_dict(phases, Callable, "phases", 5):
        raise ValueError(f"one of the phases must be forward, got {list(phases)}")
    rows = memory_rows(phases, model, optimizer, checked(batch, tuple, "batch"))
    peak = max(range(len(rows)), key=lambda i: sum(rows[i][2:]))
    said = ", ".join(f"{kind} {size}" for kind, size in zip(KINDS, rows[peak][2:]))
    desc = f"The peak is {sum(rows[peak][2:])} bytes, in {rows[peak][0]}: {said}."
    return laid_out(title, desc, ["call", "change", *KINDS], rows, _draw, rows, {peak: "peak: "}, list(phases))


def _unit(most: int) -> tuple:
    """The unit in which this many bytes are told: its size, its name, decimals."""
    return next(one for one in reversed(UNITS) if most >= 2 * one[0] or one[0] == 1)


def _draw(rows: list, marked: dict, phases: list, wide: bool) -> tuple:
    """Shapes, width and height: a column for each row, a band for each kind, and on a marked row its sum."""
    room, height = (ROOM, 300) if wide else (NARROW, 320)
    legend, legend_low = _legend(room)
    most, top, edges, shapes = max(sum(rows[i][2:]) for i in marked), legend_low + 30, [], legend
    size, unit, decimals = _unit(most)
    ticks = _ticks(most / size)
    left, low = MARGIN + 7 + code_width(str(ticks[-1]), READ), top + height
    each = (room + MARGIN - left) / len(phases)
    for i, phase in enumerate(phases):
        count = sum(row[0] == phase for row in rows)
        edges += [left + each * (i + j / count) for j in range(count)]
    edges.append(left + each * len(phases))
    for i, (kind, tone) in enumerate(zip(KINDS, TONES)):
        spans = [[round(low - sum(row[2:end]) / most * height, 1) for end in (i + 2, i + 3)] for row in rows]
        for run in _runs(spans):
            around = [edges[run[0]], spans[run[0]][0], *_stairs(run, edges[1:], [span[1] for span in spans])]
            back = _stairs(run[::-1], edges, [span[0] for span in spans])
            line = path("M", edges[run[0]], spans[run[0]][1], *around[2:])
            shapes.append(group(f"it-{tone}", path("M", *around, *back, "Z", kind="it-fill"), line))
        begins = [next(j for j, row in enumerate(rows) if row[0] == phase) for phase in phases]
        shapes += _labels(kind, edges, spans, begins) if tone != 3 else []
    for i, words in marked.items():
        x, y = (edges[i] + edges[i + 1]) / 2, low - sum(rows[i][2:]) / most * height
        half = code_width(said := f"{words}{sum(rows[i][2:]) / size:.{decimals}f} {unit}", READ) / 2
        at = min(max(x, half), room + MARGIN - half)
        shapes += [circle(x, y, 3.5, "it-pill"), text(at, y - 9, said, "it-label", "middle")]
    shapes += [path("M", left, top, "V", low, "H", edges[-1], kind="it-edge")]
    shapes += [text(left - 5, low - at * size / most * height + 5, str(at), "it-index", "end") for at in ticks]
    for i, phase in enumerate(phases):
        shapes.append(text(left + each * (i + 0.5), low + 18, phase, "it-label", "middle"))
        shapes += [path("M", left + each * i, low, "v", 22, kind="it-edge")] if i else []
    return shapes, room + 2 * MARGIN, low + 28


def _legend(room: float) -> tuple:
    """What the tones mean, in as many lines as it takes, and the lower end of it."""
    shapes, x, y = [], MARGIN, MARGIN + 2
    for tone, said in GROWS.items():
        needed = 20 + len(said) * READ * LETTER
        x, y = (MARGIN, y + 19) if x + needed > room else (x, y)
        shapes.append(group(f"it-{tone}", rect(x, y, 14, 12, "it-fill"), rect(x, y, 14, 12, "it-line")))
        shapes.append(text(x + 20, y + 11, said, "it-label"))
        x += needed + 18
    return shapes, y + 14


def _runs(spans: list) -> list:
    """The stretches of columns in which a band is not empty."""
    columns = [i for i, (low, high) in enumerate(spans) if low > high]
    cuts = [i for i in range(1, len(columns)) if columns[i] > columns[i - 1] + 1]
    return [columns[a:b] for a, b in pairwise([0, *cuts, len(columns)]) if a < b]


def _stairs(run: list, ends: list, heights: list) -> list:
    """Path steps along one side of columns, to where each ends; equal neighbors are one step."""
    steps = []
    for i in run:
        if steps and steps[-3] == heights[i]:
            steps[-1] = ends[i]
        else:
            steps += ["V", heights[i], "H", ends[i]]
    return steps


def _labels(kind: str, edges: list, spans: list, begins: list) -> list:
    """The name of a band in the widest place that it fits into, and again in each call without it in which the band
    stands above or below that place."""
    places, width = [], len(kind) * READ * LETTER + 8
    for i in range(len(spans)):
        low, high = spans[i]
        for j in range(i, len(spans)):
            low, high = min(low, spans[j][0]), max(high, spans[j][1])
            if low - high >= READ + 3 and edges[j + 1] - edges[i] >= width:
                places.append(((low - high) * (edges[j + 1] - edges[i]), edges[i], edges[j + 1], low, high))
    if not places:
        return []
    _, left, right, low, high = first = max(places)
    left, right, named = (left + right - width) / 2, (left + right + width) / 2, [first]
    for begin, end in pairwise([*begins, len(spans)]):
        inside = [one for one in places if edges[begin] <= one[1] and one[2] <= edges[end]]
        away = edges[end] <= left or right <= edges[begin]
        if inside and away and not high <= sum(max(inside)[3:]) / 2 <= low:
            named.append(max(inside))
    return [text((a + b) / 2, (low + high) / 2 + 4.5, kind, "it-label", "middle") for _, a, b, low, high in named]


def _ticks(most: float) -> list:
    step = next(s for e in range(12) for s in (10**e, 2 * 10**e, 5 * 10**e) if most / s <= 5)
    return list(range(0, int(most) + 1, step))
