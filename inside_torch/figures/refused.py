"""The figure of the lines of an old program: the name that today's torch refuses in each, and where that name stands.

Each line runs by itself, and its error or its warning tells both."""

import ast
import re
import warnings
from collections.abc import Callable

from inside_torch.drawing.layout import MARGIN, NARROW, ROOM
from inside_torch.drawing.svg import text

from .boxes import LINE, Box, Place, laid_out

PLACES = {"program": "In the program", "package": "In a package", "file": "In a file"}
HIGH, GAP = 3 * LINE + 8, 12  # of a box, and from one box to the next


def refused_names(lines: str, given: Callable[[], dict], look: list[str], *, title: str) -> str:
    """A column for each place where a name can stand. In it a box for each line whose name stands there, with the
    number of the line, the name, what is wrong with it, and where one sees it, which `look` says for each line. Each
    line runs with the names that `given` makes. Raises ValueError for a line that runs without a warning, or whose
    message names nothing."""
    found = [(i, *_refused(line, given())) for i, line in enumerate(lines.splitlines(), 1)]
    rows = [
        [i, name, PLACES[place].lower(), said, seen] for (i, place, name, said), seen in zip(found, look, strict=True)
    ]
    desc = " ".join(f"Line {i}: {name}, {where}: {said}. See {seen}." for i, name, where, said, seen in rows)
    columns = ["line", "name", "place", "state", "where to see it"]
    return laid_out(title, desc, columns, rows, _draw, found, look, kind="it-1 it-large")


def _refused(line: str, given: dict) -> tuple:
    """The place, the name, and what is wrong with it."""
    call = next((ast.unparse(one.func) for one in ast.walk(ast.parse(line)) if isinstance(one, ast.Call)), "")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(line, given)
        except Exception as error:
            return _told(error, call)
    if not any(issubclass(one.category, DeprecationWarning | FutureWarning) for one in caught):
        raise ValueError(f"nothing is refused: {line}")
    return "program", call, "warns"


def _told(error: Exception, call: str) -> tuple:
    """As `_refused`, of an error."""
    if inner := getattr(error, "inner_exception", None):
        cause = inner.__cause__ or inner
        asked = re.search(r"cannot import name '(\w+)' from '(\w+)'", str(cause))
        owner, name = (asked[2], asked[1]) if asked else (cause.name.partition(".")[0], cause.name)
        return "package", name, f"is missing from {owner}"
    if named := re.search(r"Unsupported (?:global|class).*? GLOBAL ([\w.]+)", str(error)):
        return "file", named[1].rpartition(".")[2], "torch.load refuses it"
    if isinstance(error, ModuleNotFoundError):
        return "program", error.name, "is gone"
    if not call:
        raise ValueError(f"no name: {error}")
    return "program", call, "only raises an error"


def _draw(found: list, look: list, wide: bool) -> list:
    """The shapes: three columns on a desktop, one below the other on a phone."""
    width = (ROOM - 2 * GAP) / 3 if wide else NARROW
    shapes, x, y = [], MARGIN, MARGIN
    for place, title in PLACES.items():
        shapes.append(text(x, y + 13, title, "it-name"))
        low = y + 22
        for (i, _, name, said), seen in ((one, look[one[0] - 1]) for one in found if one[1] == place):
            box = Box([f"{i}  {name}", said, seen], "it-element", bold=f"{i}  {name}")
            shapes += box.drawn(Place(x, low, width, HIGH))
            low += HIGH + GAP / 2
        x, y = (x + width + GAP, y) if wide else (x, low + GAP)
    return shapes
