"""The figure of formulas: what nodes send beside the slopes that are measured."""

import textwrap

import torch

from inside_torch.drawing.checks import checked, checked_dict, checked_label
from inside_torch.drawing.layout import MARGIN, code_width
from inside_torch.drawing.svg import circle, group, path, text

from .boxes import laid_out

AT = (-1.0, -0.5, 0.0, 0.5, 1.0)  # where an expression is looked at
STEP = 1e-6  # to both sides
WIDE, HIGH, APART = 196, 84, 28  # a plot, and the room between two
LINES = 25  # characters of a formula in a line
TOLERANCE = 1e-4  # further apart, and a dot is not in its ring


def slope_dots(formulas: dict[str, str], names: dict, *, title: str) -> str:
    """One to three plots, one for each expression of a number `a`: at five points from -1 to 1 a dot for what its graph
    sends to `a`, and a ring for the slope that is measured there, from a point on each side. Below the expression
    stands its formula. `names` are the other names in the expressions; a phone shows the plots one below the other.

    Raises TypeError for what is no text, ValueError for an expression whose result is not one real number with a graph,
    for a slope outside 0 to 1, and for an expression wider than its plot."""
    checked_dict(formulas, str, "formulas", 3)
    checked(names, dict, "names")
    plots = {code: _slopes(code, names) for code in formulas}
    said = {code: textwrap.wrap(checked_label(formula, "a formula"), LINES) for code, formula in formulas.items()}
    for code in plots:
        if code_width(code, 13) > WIDE:
            raise ValueError(f"an expression is as wide as its plot at most, {code!r} is wider")
    rows = [[code, *point] for code, points in plots.items() for point in points]
    told = []
    for code, points in plots.items():
        apart = [f"{at:g}" for at, sent, slope in points if abs(sent - slope) > TOLERANCE]
        told.append(f"{code}: {'dot and ring part at ' + ', '.join(apart) if apart else 'all agree'}")
    desc = f"What is sent and what is measured at five points. {'; '.join(told)}."
    draw = lambda wide: _drawn(plots, said, len(plots) if wide else 1)  # noqa: E731
    return laid_out(title, desc, ["expression", "a", "sent (dot)", "measured (ring)"], rows, draw)


def _slopes(code: str, names: dict) -> list:
    """For each point, the point, what the graph of the code sends to it, and the slope measured there."""
    function, found = eval(f"lambda a: {code}", dict(names)), []
    for at in AT:
        a = torch.tensor(at, dtype=torch.float64, requires_grad=True)
        result = function(a)
        if not isinstance(result, torch.Tensor) or result.dim() or result.dtype != a.dtype or not result.requires_grad:
            raise ValueError(f"{code!r} is not one float64 with a graph")
        (sent,) = torch.autograd.grad(result, a)
        with torch.no_grad():
            slope = (function(a + STEP) - function(a - STEP)) / (2 * STEP)
        found.append((at, round(sent.item(), 4) + 0.0, round(slope.item(), 4) + 0.0))
        if not all(0 <= value <= 1 for value in found[-1][1:]):
            raise ValueError(f"{code!r} has a slope of {found[-1][1]} or {found[-1][2]}: 0 to 1 can be drawn")
    return found


def _drawn(plots: dict, said: dict, columns: int) -> tuple:
    """The shapes of slope_dots, this many plots beside each other."""
    shapes, left, top = [], MARGIN + 22, MARGIN + 32 + 17 * max(map(len, said.values()))
    for i, (code, points) in enumerate(plots.items()):
        x, y = left + i % columns * (WIDE + APART), i // columns * (top + HIGH + 60)
        low = y + top + HIGH + 16
        shapes += [text(x, y + MARGIN + 12, code, "it-name")]
        shapes += [text(x, y + MARGIN + 32 + 17 * j, line, "it-saved") for j, line in enumerate(said[code])]
        shapes.append(path("M", x, low - HIGH - 16, "V", low + 10, "H", x + WIDE - 16, kind="it-edge"))
        shapes += [text(x - 6, low - v * HIGH + 4, word, "it-index", "end") for word, v in zip("0½1", (0, 0.5, 1))]
        for at, sent, slope in points:
            middle = x + WIDE / 2 - 8 + at * (WIDE / 2 - 24)
            shapes.append(group("it-1", circle(middle, low - sent * HIGH, 3.5, "it-head")))
            shapes.append(group("it-2", circle(middle, low - slope * HIGH, 7.5, "it-line")))
            shapes.append(text(middle, low + 24, f"{at:g}", "it-index", "middle"))
    key = -(-len(plots) // columns) * (top + HIGH + 60) + 4
    shapes += [group("it-1", circle(left + 6, key, 3.5, "it-head")), text(left + 18, key + 4, "sent", "it-note")]
    shapes.append(group("it-2", circle(left + 70, key, 7.5, "it-line")))
    shapes.append(text(left + 84, key + 4, "measured", "it-note"))
    return shapes, 2 * left + columns * (WIDE + APART) - APART - 22, key + 14
