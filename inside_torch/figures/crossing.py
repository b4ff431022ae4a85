"""A figure of sums that grow at different rates: straight lines, where two of them cross, and what was measured."""

from collections.abc import Callable
from itertools import combinations

from inside_torch.drawing.checks import checked_dict, checked_label
from inside_torch.drawing.layout import MARGIN, NARROW, ROOM, code_width, scale
from inside_torch.drawing.svg import circle, group, path, text

from .boxes import laid_out

HIGH, LEFT, RIGHT, PARTS = 230, 34, 22, 4  # the plot: its height, the room for numbers on both sides, ticks of an axis


def crossing_lines(lines: dict[str, Callable], measured: list, *, x: tuple, y: tuple, axes: tuple, title: str) -> str:
    """One to three functions of a number whose curves are straight, in a window whose ends are `x` and `y`. A number
    stands where two lines cross, a circle where a point (x, y) was measured. `axes` are what the two ends count.
    Raises TypeError for what is no function or no number, ValueError for a window without area, a curve that is not
    straight, and a line or a point that leaves the window."""
    checked_dict(lines, Callable, "lines", 3)
    for low, high in (x, y):
        if not low < high:
            raise ValueError(f"a window goes from a smaller number to a larger one, got {x} and {y}")
    across, upward = (checked_label(axis, "an axis") for axis in axes)
    ends = {label: [(at, _inside(label, line(at), y)) for at in x] for label, line in lines.items()}
    for label, line in lines.items():
        if abs(line(sum(x) / 2) - sum(value for _, value in ends[label]) / 2) > (y[1] - y[0]) / 1e6:
            raise ValueError(f"{label!r} is not straight between {x[0]} and {x[1]}")
    measured = [(_inside("a point", one, x), _inside("a point", two, y)) for one, two in measured]
    crossed = [spot for pair in combinations(ends.values(), 2) for spot in _crossing(*pair)]
    rows = [[label, f"{at:.0f}", f"{value:.2f}"] for label, both in ends.items() for at, value in both]
    rows += [["two lines cross", f"{at:.0f}", f"{value:.2f}"] for at, value in crossed]
    rows += [["measured", f"{at:.0f}", f"{value:.2f}"] for at, value in measured]
    desc = f"{upward} over {across}."
    for label, ((_, first), (_, last)) in ends.items():
        desc += f" {label} goes from {first:.2f} to {last:.2f}."
    desc += "".join(f" Two lines cross at {at:.0f} {across}." for at, _ in crossed)

    def draw(wide: bool) -> tuple:
        width, left, top = (ROOM if wide else NARROW) - LEFT - RIGHT, MARGIN + LEFT, MARGIN + 28
        low = top + HIGH
        to_x, to_y = scale(x, left, left + width), scale(y, low, top)
        shapes = [path("M", left, top, "V", low, "H", left + width, kind="it-edge")]
        shapes.append(text(MARGIN, top - 14, upward, "it-name"))
        for part in range(PARTS + 1):
            one, two = (a + (b - a) * part / PARTS for a, b in (x, y))
            shapes += [
                path("M", to_x(one), low, "v", 4, kind="it-edge"),
                path("M", left, to_y(two), "h", -4, kind="it-edge"),
            ]
            shapes.append(text(to_x(one), low + 17, f"{one:.0f}", "it-index", "middle"))
            shapes.append(text(left - 7, to_y(two) + 4, f"{two:.4g}", "it-index", "end"))
        shapes.append(text(left + width / 2, low + 36, across, "it-value", "middle"))
        for tone, (label, both) in enumerate(ends.items(), 1):
            at, ((a, first), (b, last)) = low + 38 + 20 * tone, both
            if code_width(label) > NARROW - 40:
                raise ValueError(f"a label is as wide as a phone at most, {label!r} is wider")
            key = [path("M", MARGIN + 8, at - 4, "h", 26), text(MARGIN + 42, at, label, "it-value")]
            shapes.append(group(f"it-{tone}", path("M", to_x(a), to_y(first), "L", to_x(b), to_y(last)), *key))
        for at, value in crossed:
            shapes.append(path("M", to_x(at), to_y(value), "V", low, kind="it-edge"))
            shapes.append(text(to_x(at) - 8, to_y(value) - 10, f"{at:.0f}", "it-value", "end"))
        at = low + 58 + 20 * len(lines)
        shapes += [circle(to_x(one), to_y(two), 4, "it-pill") for one, two in measured]
        if measured:
            shapes += [circle(MARGIN + 21, at - 4, 4, "it-pill"), text(MARGIN + 42, at, "measured", "it-value")]
        return shapes, MARGIN + LEFT + width + RIGHT, at + 10

    return laid_out(title, desc, ["line", across, upward], rows, draw)


def _inside(label: str, value: float, ends: tuple) -> float:
    """The value, when it is a number of the window."""
    if not isinstance(value, int | float):
        raise TypeError(f"{label!r} must be a number, got {type(value).__name__}")
    if not ends[0] <= value <= ends[1]:
        raise ValueError(f"{label!r} leaves the window: {value:g} is not between {ends[0]} and {ends[1]}")
    return float(value)


def _crossing(one: list, two: list) -> list:
    """Where two straight lines cross between the ends of the window, if they do."""
    (start, a), (end, b) = one
    (_, c), (_, d) = two
    if (a - c) * (b - d) >= 0:
        return []
    part = (a - c) / ((a - c) - (b - d))
    return [(start + (end - start) * part, a + (b - a) * part)]
