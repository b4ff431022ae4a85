"""Figures of training: paths over a loss surface, and values that change from step to step."""

import math
from collections.abc import Callable

import torch

from .svg import MARGIN, checked_label, code_width, element, figure, group, number, path, rect, text

SIDE = 290  # width of a surface: it and the numbers beside it fit a phone 360 px wide
GRID = 61  # points a side at which a surface is sampled
MOST_STEPS = 120  # points of a path or a curve
PANEL = (150, 56)  # a small plot
LOSS = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def loss_paths(
    loss: LOSS, paths: dict[str, torch.Tensor], *, x: tuple[float, float], y: tuple[float, float], title: str
) -> str:
    """The contour lines of `loss(x, y)` over a window, and one to three paths of (steps, 2) points
    over it: a dot for each point, a ring around the start. One unit is as long upwards as sideways.
    Above the lowest loss of the window, each contour is a third as high as the next, so that the
    lines stay apart from a steep rim to a flat floor.

    Contours are computed by contourpy, the part of matplotlib that does it. Raises TypeError for
    what is no tensor or no text, ValueError for a window without area, a loss that is no finite
    number of each point, or is the same everywhere, and a path that leaves the window.
    """
    window = _checked_window(x), _checked_window(y)
    height = SIDE * (window[1][1] - window[1][0]) / (window[0][1] - window[0][0])
    if not SIDE / 3 <= height <= SIDE * 1.5:
        raise ValueError(f"a window is between a third and one and a half times as high as wide, got {x} and {y}")
    points = _checked_paths(paths, window)
    place = [_scale(window[0], MARGIN + 30, MARGIN + 30 + SIDE), _scale(window[1], MARGIN + height, MARGIN)]
    lines, levels = _contours(loss, window, place)
    shapes = [path(*line, kind="it-edge") for line in lines]
    shapes += _frame(window, place)
    right, below, rows = MARGIN + 30 + SIDE, MARGIN + height + 36, []
    for i, (label, steps) in enumerate(points.items()):
        values = loss(*torch.tensor(steps, dtype=torch.float64).T).tolist()
        rows += [[label, step, *map(_short, (*point, value))] for step, (point, value) in enumerate(zip(steps, values))]
        dots = [(place[0](a), place[1](b)) for a, b in steps]
        said = f"{label}: loss {_short(values[-1])} after {len(steps) - 1} steps"
        right = max(right, MARGIN + 32 + code_width(said))
        shapes.append(
            group(
                f"it-{i + 1}",
                path("M", *dots[0], *(part for dot in dots[1:] for part in ("L", *dot))),
                *(element("circle", class_="it-head", cx=a, cy=b, r=2.2) for a, b in dots),
                element("circle", class_="it-line", cx=dots[0][0], cy=dots[0][1], r=6),
                path("M", MARGIN, below - 4, "H", MARGIN + 26),
                element("circle", class_="it-head", cx=MARGIN + 13, cy=below - 4, r=2.2),
                text(MARGIN + 32, below, said, "it-value"),
            )
        )
        below += 18
    ends = [f"{label} goes from {_point(steps[0])} to {_point(steps[-1])}." for label, steps in points.items()]
    return figure(
        shapes,
        right + MARGIN,
        below - 8,
        title=title,
        desc=f"Contour lines of a loss at {', '.join(map(_short, levels))}. " + " ".join(ends),
        columns=["path", "step", "x", "y", "loss"],
        rows=rows,
    )


def step_curves(curves: dict[str, list], *, title: str, columns: int = 2) -> str:
    """Small plots of one to twelve lists of numbers, one value a step, held until the next one.
    All start at 0 and share their scale, which the largest and smallest values give.

    Raises TypeError for what is no number or no text, ValueError for lists of other lengths than
    the first one's, and for what is not finite.
    """
    if not isinstance(curves, dict):
        raise TypeError(f"curves must be a dict of label to numbers, got {type(curves).__name__}")
    if not 1 <= len(curves) <= 12:
        raise ValueError(f"a figure takes one to twelve curves, got {len(curves)}")
    values = {checked_label(label, "a curve's label"): _numbers(label, curve) for label, curve in curves.items()}
    steps = len(next(iter(values.values())))
    if not 2 <= steps <= MOST_STEPS or any(len(curve) != steps for curve in values.values()):
        raise ValueError(f"curves have one length of 2 to {MOST_STEPS}, got {[len(c) for c in values.values()]}")
    low = min(0.0, *(min(curve) for curve in values.values()))
    high = max(0.0, *(max(curve) for curve in values.values()))
    if low == high:
        raise ValueError("all curves are 0 everywhere")
    room = [code_width(_short(end), 11) for end in (low, high)]
    left, wide = max(room) + 6, max(PANEL[0], *(code_width(label) for label in values))
    shapes = []
    for i, (label, curve) in enumerate(values.items()):
        x0 = MARGIN + left + (i % columns) * (wide + left + 10)
        y0 = MARGIN + 18 + (i // columns) * (PANEL[1] + 36)
        down = _scale((low, high), y0 + PANEL[1] - 3, y0 + 3)
        across = _scale((0, steps), x0, x0 + PANEL[0])
        way = ["M", x0, down(curve[0])]
        for step, value in enumerate(curve[1:], 1):
            if value != curve[step - 1]:
                way += ["H", across(step), "V", down(value)]
        shapes += [
            path("M", x0, y0, "V", y0 + PANEL[1], kind="it-edge"),
            path("M", x0, down(0), "H", x0 + PANEL[0], kind="it-edge"),
            text(x0 - 5, down(high) + 5, _short(high), "it-index", "end"),
            text(x0 - 5, down(low) + 3, _short(low), "it-index", "end"),
            text(x0, y0 - 5, label, "it-value"),
            group("it-1", path(*way, "H", x0 + PANEL[0])),
        ]
    down = -(-len(values) // columns)
    shapes.append(text(MARGIN + left, MARGIN + 18 + down * (PANEL[1] + 36) - 18, f"{steps} steps", "it-index"))
    ends = [f"{label} goes from {_short(c[0])} to {_short(c[-1])}." for label, c in values.items()]
    return figure(
        shapes,
        MARGIN * 2 + min(columns, len(values)) * (wide + left + 10) - 10,
        MARGIN + 18 + down * (PANEL[1] + 36) - 10,
        title=title,
        desc=f"{len(values)} curves of {steps} steps between {_short(low)} and {_short(high)}. " + " ".join(ends),
        columns=["step", *values],
        rows=[[step, *(_short(curve[step]) for curve in values.values())] for step in range(steps)],
    )


def _short(value: float) -> str:
    """A number with three significant digits."""
    return f"{value:.3g}" if abs(value) >= 1e-12 else "0"


def _point(point: list) -> str:
    return f"({', '.join(map(_short, point))})"


def _scale(ends: tuple, at_first: float, at_second: float) -> Callable[[float], float]:
    """The linear map that takes the two ends to two places in the figure."""
    slope = (at_second - at_first) / (ends[1] - ends[0])
    return lambda value: at_first + (value - ends[0]) * slope


def _numbers(label: str, values) -> list:
    """The values as floats; a tensor of one dimension will do."""
    values = values.tolist() if isinstance(values, torch.Tensor) else list(values)
    for value in values:
        if not isinstance(value, int | float):
            raise TypeError(f"{label!r} must hold numbers, got {type(value).__name__}")
        if not math.isfinite(value):
            raise ValueError(f"{label!r} holds {value}, and no plot has a place for it")
    return [float(value) for value in values]


def _checked_window(ends) -> tuple:
    low, high = _numbers("a window", ends)
    if low >= high:
        raise ValueError(f"a window goes from a smaller number to a larger one, got {ends}")
    return low, high


def _checked_paths(paths, window: tuple) -> dict:
    """Label to list of points, all of them inside the window."""
    if not isinstance(paths, dict):
        raise TypeError(f"paths must be a dict of label to tensor, got {type(paths).__name__}")
    if not 1 <= len(paths) <= 3:
        raise ValueError(f"a surface takes one to three paths, got {len(paths)}")
    for label, steps in paths.items():
        checked_label(label, "a path's label")
        if not isinstance(steps, torch.Tensor):
            raise TypeError(f"{label!r} must be a torch.Tensor, got {type(steps).__name__}")
        if steps.dim() != 2 or steps.size(1) != 2 or not 2 <= steps.size(0) <= MOST_STEPS:
            raise ValueError(f"{label!r} must have size (2 to {MOST_STEPS}, 2), got {tuple(steps.shape)}")
        for ends, values in zip(window, steps.T.tolist()):
            if not ends[0] <= min(_numbers(label, values)) <= max(values) <= ends[1]:
                raise ValueError(f"{label!r} leaves the window: {_short(min(values))} to {_short(max(values))}")
    return {label: steps.tolist() for label, steps in paths.items()}


def _contours(loss: LOSS, window: tuple, place: list) -> tuple:
    """The contour lines as path steps, and their levels from the lowest up."""
    from contourpy import contour_generator  # only this figure needs it, and a block starts faster without

    sides = [torch.linspace(*ends, GRID, dtype=torch.float64) for ends in window]
    down, across = torch.meshgrid(sides[1], sides[0], indexing="ij")
    values = loss(across, down)
    if not isinstance(values, torch.Tensor) or values.shape != across.shape or not values.isfinite().all():
        raise ValueError("the loss must be one finite number for each point of the window")
    floor, top = values.min().item(), values.max().item()
    if floor == top:
        raise ValueError("the loss is the same everywhere: there is no contour to draw")
    levels = [floor + (top - floor) / 3**i for i in range(6, 0, -1)]
    cells = contour_generator(*(side.numpy() for side in sides), values.detach().numpy())
    lines = []
    for line in (line for level in levels for line in cells.lines(level)):
        # A point within 4 px of the last one is left out: the line stays smooth, the figure small.
        dots = [(place[0](a), place[1](b)) for a, b in line.tolist()]
        kept = [dots[0]]
        for i, dot in enumerate(dots[1:], 1):
            if math.dist(dot, kept[-1]) > 4 or i == len(dots) - 1:
                kept.append(dot)
        lines.append(["M", *kept[0], *(part for dot in kept[1:] for part in ("L", *dot))])
    return lines, levels


def _frame(window: tuple, place: list) -> list:
    """The border of the surface, and the numbers at its corners."""
    (left, right), (low, high) = window
    x0, y0, x1, y1 = place[0](left), place[1](high), place[0](right), place[1](low)
    return [
        rect(x0, y0, x1 - x0, y1 - y0, "it-edge"),
        text(x0 - 5, y0 + 10, number(high), "it-index", "end"),
        text(x0 - 5, y1, number(low), "it-index", "end"),
        text(x0, y1 + 14, number(left), "it-index"),
        text(x1, y1 + 14, number(right), "it-index", "end"),
    ]
