"""The figure of the warnings of a program: the functions that led to each, the line that it points to, and whether
Python shows it by default."""

import linecache
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import NamedTuple
from unittest.mock import patch

import torch

from inside_torch.drawing.layout import MARGIN, NARROW, ROOM
from inside_torch.drawing.svg import arrow, group, text

from .boxes import LINE, Box, Place, down, laid_out

TORCH = Path(torch.__file__).parents[1]
MAIN, GAP, HIGH, LANE = "main program", 24, 2 * LINE + 8, 30  # px: between two boxes, a box, the way beside them
HIDDEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


class Warned(NamedTuple):
    """The frames that led to a warning, each in two lines, the main program first; which of them it points to."""

    kind: str
    frames: list
    points: int
    shown: bool

    @property
    def verdict(self) -> str:
        return "shown by default" if self.shown else "hidden by default"


def warned_frames(program: str, *, title: str) -> str:
    """The warnings that `program` gives as a main program, side by side, and below each other on a phone: from its line
    down to the function that calls `warnings.warn`. The frame that a warning points to is filled, and an arrow leads to
    it; below stands whether the rules that Python has by default show it. Of several warnings below one line of the
    same file there is the first. Raises ValueError for a program that gives no warning, or more than two."""
    linecache.cache[MAIN] = (len(program), None, program.splitlines(keepends=True), MAIN)
    found: dict[tuple, Warned] = {}

    def warn(message, category=None, stacklevel=1, **more):
        frames = list(_frames(sys._getframe(1)))[::-1]
        one = _told(frames, message, category, stacklevel + 2, more)
        lines = tuple((frame.f_code, line) for frame, line in frames if frame.f_code.co_name == "<module>")
        found.setdefault(lines, one)

    with patch("warnings.warn", warn):
        exec(compile(program, MAIN, "exec"), {"__name__": "__main__"})
    if not 0 < len(found) < 3:
        raise ValueError(f"one warning or two can be drawn, got {len(found)}")
    rows = [[w.kind, *map(", ".join, (w.frames[w.points], w.frames[-1])), w.verdict] for w in found.values()]
    desc = " ".join(f"{kind}, {said}: it points to {at}. Who warns is {caller}." for kind, at, caller, said in rows)
    columns = ["class", "it points to", "what calls warnings.warn", "Python"]
    return laid_out(title, desc, columns, rows, _draw, list(found.values()), kind="it-1 it-large")


def _frames(frame: FrameType | None) -> Iterator[tuple[FrameType, int]]:
    """A frame and its callers up to the main program, each with its line; Python's import is left out, as it is where a
    warning counts frames."""
    while frame:
        if "importlib" not in frame.f_code.co_filename:
            yield frame, frame.f_lineno
        frame = None if frame.f_code.co_filename == MAIN else frame.f_back


def _told(frames: list, message, category, level: int, more: dict) -> Warned:
    """What Python makes of a warning, first with every rule off and then with its own."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _warn(message, category, level, more)
    with warnings.catch_warnings(record=True) as shown:
        warnings.resetwarnings()
        for hidden in HIDDEN:
            warnings.simplefilter("ignore", hidden)
        warnings.filterwarnings("default", category=DeprecationWarning, module="__main__")
        _warn(message, category, level, more)
    at = caught[0].filename, caught[0].lineno
    points = [(frame.f_code.co_filename, line) for frame, line in frames].index(at)
    return Warned(caught[0].category.__name__, [_said(*one) for one in frames], points, bool(shown))


_warn_now = warnings.warn


def _warn(message, category, level: int, more: dict) -> None:
    _warn_now(message, category, level + 1, **more)


def _said(frame: FrameType, line: int) -> list:
    """The two lines of a frame: a line of a module and its text, or a function and its file where that is torch's."""
    code, file = frame.f_code, Path(frame.f_code.co_filename)
    if code.co_name == "<module>":
        return [MAIN if file.name == MAIN else f"{file.name}:{line}", linecache.getline(str(file), line).strip()]
    inside = file.is_relative_to(TORCH / "torch")
    return [code.co_qualname.partition(".")[0], file.relative_to(TORCH).as_posix() if inside else "not in torch"]


def _draw(found: list, wide: bool) -> list:
    """The shapes: a stack of frames for each warning."""
    width = (ROOM - GAP) / 2 if wide else NARROW
    shapes, x, y = [], MARGIN, MARGIN
    for one in found:
        stack, low = _stack(one, x, y, width)
        shapes += stack
        x, y = (x + width + GAP, y) if wide else (x, low + GAP)
    return shapes


def _stack(one: Warned, x: float, y: float, width: float) -> tuple:
    """The frames of a warning below its class, the arrow to where it points, and what Python does; and its end."""
    top, step = y + 22, HIGH + GAP
    places = [Place(x, top + step * i, width - LANE, HIGH) for i in range(len(one.frames))]
    shapes = [text(x, y + 13, one.kind, "it-name")]
    for i, (place, lines) in enumerate(zip(places, one.frames)):
        shapes += Box(lines, "it-element" if i == one.points else "it-pill", bold=lines[0]).drawn(place)
    last, aim = places[-1], places[one.points]
    if one.points < len(places) - 1:
        way = ("M", last.right + 1, last.level, "H", last.right + LANE - 8, "V", aim.level)
        shapes.append(group("it-2", *arrow(aim.right + 1, aim.level, "left", *way)))
    shapes.append(group("it-3", *down(places)))
    return [*shapes, text(x, last.low + 20, one.verdict, "it-value")], last.low + 26
