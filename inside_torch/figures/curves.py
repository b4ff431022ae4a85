"""Figures of training: paths over a loss surface, and values that change from step to step."""

import math
from collections.abc import Callable
from itertools import pairwise, product

import torch

from inside_torch.drawing.checks import checked_dict
from inside_torch.drawing.layout import MARGIN, NARROW, READ, ROOM, code_width, scale
from inside_torch.drawing.svg import circle, figure, group, number, path, rect, text, through

SIDE, BESIDE = 300, 34  # the widest surface, and the room between two
GRID = 60  # squares a side in which a contour is traced
MOST_STEPS = 128  # points of a path or a curve
WIDE, HIGH = 270, 150  # a plot


def loss_paths(
    loss: Callable, paths: dict[str, torch.Tensor], *, x: tuple, y: tuple, axes: tuple, lowest: tuple, title: str
) -> str:
    """One to three paths of (steps, 2) points, each over the contour lines of `loss(x, y)` in a window of its own: a
    dot for each point, a ring around the start, a cross at the minimum. One unit is as long upwards as sideways. Above
    the lowest loss of the window, each contour is a third as high as the next, so that the lines stay apart from a
    steep rim to a flat floor. `x` and `y` are the ends of the window, `axes` their names, `lowest` the minimum. Raises
    TypeError for what is no tensor or no text, ValueError for a window without area, a loss that is not finite at each
    point or lower at some other point than at `lowest`, and a path that leaves the window."""
    (x0, x1), (y0, y1) = window = _numbers("a window", x), _numbers("a window", y)
    if x0 >= x1 or y0 >= y1:
        raise ValueError(f"a window goes from a smaller number to a larger one, got {x} and {y}")
    checked_dict(paths, torch.Tensor, "paths", 3)
    if not 1 / 3 <= (y1 - y0) / (x1 - x0) <= 1.5:
        raise ValueError(f"a window is between a third and one and a half times as high as wide, got {x} and {y}")
    paths = {label: _points(label, steps, window) for label, steps in paths.items()}
    (lowest,) = _points("lowest", torch.tensor([lowest] * 2, dtype=torch.float64), window)[:1]
    values = _sampled(loss, window)
    floor, top = min(map(min, values)), max(map(max, values))
    if floor == top:
        raise ValueError("the loss is the same everywhere: there is no contour to draw")
    if floor < loss(*torch.tensor(lowest, dtype=torch.float64)).item():
        raise ValueError(f"the loss is lower elsewhere than at {lowest}")
    levels = [floor + (top - floor) / 3**i for i in range(6, 0, -1)]
    lines = [line for level in levels for line in _contour(values, level)]
    rows, desc = [], f"Contour lines of a loss at {', '.join(map(_short, levels))}, its minimum at {_pair(lowest)}."
    for label, steps in paths.items():
        losses = loss(*torch.tensor(steps, dtype=torch.float64).T).tolist()
        rows += [[label, step, *map(_short, (*point, value))] for step, (point, value) in enumerate(zip(steps, losses))]
        desc += f" {label} goes from {_pair(steps[0])} to {_pair(steps[-1])}."

    def drawn(columns: int, room: float) -> tuple:
        side = min((room - 24 + BESIDE) / columns - BESIDE, SIDE)
        height, shapes = side * (y1 - y0) / (x1 - x0), []
        for i, (label, steps) in enumerate(paths.items()):
            left, high = MARGIN + 24 + i % columns * (side + BESIDE), MARGIN + 36 + i // columns * (height + 84)
            low = high + height
            across, up = scale(window[0], left, left + side), scale(window[1], low, high)
            around = [_thinned([(left + column * side, low - row * height) for row, column in line]) for line in lines]
            dots = [(across(a), up(b)) for a, b in steps]
            last = next(row[-1] for row in reversed(rows) if row[0] == label)
            steps_drawn = [path(*through(dots)), *(circle(*dot, 2.2, "it-head") for dot in dots)]
            shapes += [
                *(path(*through(line), kind="it-edge") for line in around),
                rect(left, high, side, height, "it-edge"),
                group("it-1", *steps_drawn, circle(*dots[0], 6, "it-line")),
                _cross(across(lowest[0]), up(lowest[1])),
                text(left, high - 24, label, "it-name"),
                text(left, high - 6, f"{axes[1]} (up)", "it-index"),
                text(left - 5, high + 10, number(y1), "it-index", "end"),
                text(left - 5, low, number(y0), "it-index", "end"),
                text(left, low + 14, number(x0), "it-index"),
                text(left + side / 2, low + 14, axes[0], "it-index", "middle"),
                text(left + side, low + 14, number(x1), "it-index", "end"),
                text(left, low + 34, f"loss {last} after {len(steps) - 1} steps", "it-note"),
            ]
        key = [circle(MARGIN + 30, low + 54, 6, "it-line"), text(MARGIN + 42, low + 58, "start", "it-note")]
        shapes += [group("it-1", *key), _cross(MARGIN + 95, low + 54)]
        shapes.append(text(MARGIN + 107, low + 58, "minimum", "it-note"))
        return shapes, 2 * MARGIN + 24 + columns * (side + BESIDE) - BESIDE, low + 66

    columns = ["path", "step", "x", "y", "loss"]
    return figure(*drawn(len(paths), ROOM), title, desc, columns, rows, drawn(1, NARROW))


def step_curves(
    plots: dict[str, dict],
    *,
    title: str,
    columns: int = 2,
    phases: dict[str, int] | None = None,
    unit: str = "step",
    ticks: tuple = (),
) -> str:
    """One to twelve plots, each of one to three lists of numbers, one value a step, held until the next one; a curve
    ends at its first None. Each plot has a scale of its own, from the smallest to the largest of its values and 0. A
    phone shows the plots one below the other. `phases` are the names of stretches of the axis and the steps in each:
    they stand there instead of numbers, and a circle stands where a curve is highest. `unit` is what the axis calls a
    step. `ticks` are the numbers on the upright axis, instead of 0 and the ends; values then have four digits.
    Raises TypeError for what is no number or no text, ValueError for lists of unlike lengths, for what is not finite,
    for a name or a label wider than its plot, for phases of more or fewer steps than a curve and for a tick outside of
    a plot."""
    checked_dict(plots, dict, "plots", 12)
    lengths = {len(c) for curves in plots.values() for c in checked_dict(curves, object, "curves", 3).values()}
    steps = min(lengths)
    if not 2 <= steps <= MOST_STEPS or len(lengths) > 1:
        raise ValueError(f"curves have one length of 2 to {MOST_STEPS}, got {sorted(lengths)}")
    if phases and sum(checked_dict(phases, int, "phases", 5).values()) != steps:
        raise ValueError(f"the phases must have {steps} steps in all, got {phases}")
    plots = {
        name: {label: _numbers(label, curve[: [*curve, None].index(None)]) for label, curve in curves.items()}
        for name, curves in plots.items()
    }
    said = "{:.4g}".format if ticks else _short
    fifths, desc = range(-(-steps // 5), steps + 1, -(-steps // 5)), f"{len(plots)} plots of {steps} steps."
    for name, curves in plots.items():
        if code_width(name, READ) > min(WIDE * 2 // columns, NARROW - 64) + 14:
            raise ValueError(f"a name is as wide as its plot at most, {name!r} is wider")
        if not any(map(any, curves.values())):
            raise ValueError(f"all curves of {name!r} are 0 everywhere")
        for label, curve in curves.items():
            if code_width(label) > min(WIDE * 2 // columns - 22, NARROW - 36):
                raise ValueError(f"a label is as wide as its plot at most, {label!r} is wider")
            desc += f" {name}: {label} goes from {said(curve[0])} to {said(curve[-1])}."
    named = {f"{name}: {label}": curve for name, curves in plots.items() for label, curve in curves.items()}
    rows = [[step, *(said(one[step]) if step < len(one) else "" for one in named.values())] for step in range(steps)]

    def drawn(columns: int, wide: float, outdent: float = 0) -> tuple:
        shapes, y, left = [], MARGIN + 24, MARGIN + 50
        for i, (name, curves) in enumerate(plots.items()):
            ends = low, high = min(0.0, *map(min, curves.values())), max(0.0, *map(max, curves.values()))
            x = left + (i % columns) * (wide + 56)
            if ticks and not low <= min(ticks) <= max(ticks) <= high:
                raise ValueError(f"the ticks of {name!r} lie between {low:g} and {high:g}, got {ticks}")
            up, across = scale(ends, y + HIGH - 4, y + 4), scale((0, steps), x, x + wide)
            shapes += [
                path("M", x, y, "V", y + HIGH, kind="it-edge"),
                path("M", x, up(0), "H", x + wide, kind="it-edge"),
                *(text(x - 5, up(at) + 4, said(at), "it-index", "end") for at in ticks or sorted({low, 0.0, high})),
                *_axis(across, y + HIGH, fifths, phases or {}, unit),
                text(x, y - 8, name, "it-name"),
            ]
            for tone, (label, curve) in enumerate(curves.items(), 1):
                way, at = ["M", x, up(curve[0])], y + HIGH + 16 + 16 * tone
                for step, (before, value) in enumerate(pairwise(curve), 1):
                    way += ["H", across(step), "V", up(value)] if value != before else []
                key = [path("M", x - outdent, at - 4, "h", 26), text(x - outdent + 32, at, label, "it-value")]
                shapes.append(group(f"it-{tone}", path(*way, "H", across(len(curve))), *key))
                most = max(curve)
                shapes += [circle(across(curve.index(most) + 0.5), up(most), 3.5, "it-pill")] if phases else []
            if i % columns == columns - 1 or i == len(plots) - 1:
                y += HIGH + 54 + 16 * max(len(curves) for curves in list(plots.values())[i - i % columns : i + 1])
        return shapes, left + min(columns, len(plots)) * (wide + 56) - 42, y - 30

    layouts = drawn(columns, WIDE * 2 // columns), drawn(1, NARROW - 64, outdent=50)
    return figure(*layouts[0], title, desc, [unit, *named], rows, layouts[1])


def _axis(across: Callable, low: float, fifths: range, phases: dict, unit: str) -> list:
    """What stands below a plot whose lower end is `low`: the numbers of some steps, or the phases and their limits."""
    if not phases:
        first = text(across(0), low + 14, f"{unit} 0", "it-index")
        return [first, *(text(across(at), low + 14, str(at), "it-index", "middle") for at in fifths)]
    shapes, begin = [], 0
    for phase, count in phases.items():
        shapes.append(text(across(begin + count / 2), low + 14, phase, "it-index", "middle"))
        shapes += [path("M", across(begin), low - HIGH, "V", low + 18, kind="it-edge")] if begin else []
        begin += count
    return shapes


def _cross(x: float, y: float) -> str:
    """The mark of a minimum."""
    return path("M", x - 6, y, "h", 12, "M", x, y - 6, "v", 12, kind="it-pill")


def _pair(point: list) -> str:
    """A point as people write it."""
    return f"({', '.join(map(_short, point))})"


def _short(value: float) -> str:
    """A number with three significant digits, and whole where it has more before the point."""
    if 1000 <= abs(value) < 1e6:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) >= 1e-12 else "0"


def _numbers(label: str, values) -> list:
    """The values as floats; a tensor of one dimension will do."""
    values = values.tolist() if isinstance(values, torch.Tensor) else list(values)
    for value in values:
        if not isinstance(value, int | float):
            raise TypeError(f"{label!r} must hold numbers, got {type(value).__name__}")
        if not math.isfinite(value):
            raise ValueError(f"{label!r} holds {value}, and no plot has a place for it")
    return [float(value) for value in values]


def _points(label: str, steps: torch.Tensor, window: tuple) -> list:
    """The points of a path, all of them inside the window."""
    if steps.dim() != 2 or steps.size(1) != 2 or not 2 <= steps.size(0) <= MOST_STEPS:
        raise ValueError(f"{label!r} must have size (2 to {MOST_STEPS}, 2), got {tuple(steps.shape)}")
    for ends, values in zip(window, steps.T.tolist()):
        if not ends[0] <= min(_numbers(label, values)) <= max(values) <= ends[1]:
            raise ValueError(f"{label!r} leaves the window: {_short(min(values))} to {_short(max(values))}")
    return steps.tolist()


def _sampled(loss: Callable, window: tuple) -> list:
    """The loss at the corners of a grid over the window, (rows from below, columns)."""
    across, up = (torch.linspace(*ends, GRID + 1, dtype=torch.float64) for ends in window)
    up, across = torch.meshgrid(up, across, indexing="ij")
    values = loss(across, up)
    if not isinstance(values, torch.Tensor) or values.shape != up.shape or not values.isfinite().all():
        raise ValueError("the loss must be one finite number for each point of the window")
    return values.tolist()


def _contour(values: list, level: float) -> list:
    """The lines on which the values pass a level, as (row, column) between 0 and 1: where it crosses two sides of a
    square it joins them (marching squares), and sides that are joined are a line."""
    import networkx  # only graphs and contours need it, and a block starts faster without

    def crossing(a, b):
        at = (level - values[a[0]][a[1]]) / (values[b[0]][b[1]] - values[a[0]][a[1]])
        return tuple((i + at * (j - i)) / GRID for i, j in zip(a, b))

    joined = networkx.Graph()
    for row, column in product(range(GRID), repeat=2):
        square = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)]
        above = [values[i][j] > level for i, j in square]
        sides = [tuple(sorted([square[i - 1], square[i]])) for i in range(4) if above[i - 1] != above[i]]
        joined.add_edges_from(zip(sides[::2], sides[1::2]))
    lines = []
    for part in networkx.connected_components(joined):
        ends = [side for side in part if joined.degree(side) == 1]
        line = list(networkx.dfs_preorder_nodes(joined, min(ends or part)))
        lines.append([crossing(*side) for side in line + line[:1] * (not ends)])
    return lines


def _thinned(dots: list) -> list:
    """Without the points near the last one, 8 px or a thirtieth of the line: it stays smooth, the figure small."""
    kept, near = dots[:1], min(8, sum(math.dist(*pair) for pair in pairwise(dots)) / 30)
    for dot in dots[1:-1]:
        if math.dist(dot, kept[-1]) > near:
            kept.append(dot)
    return kept + dots[-1:]
