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
HIGH, GAP = 2 * LINE + 8, 12  # of a box, and from one box to the next


def refused_names(lines: str, given: Callable[[], dict], tools: dict[str, list], *, title: str) -> str:
    """A column for each place where a name can stand. In it a box for each line whose name stands there, with the
    number of the line, the name and what is wrong with it; below the boxes the `tools` of that place, texts of its own
    by the keys of PLACES. Each line runs with the names that `given` makes. Raises ValueError for a line that runs
    without a warning, or whose message names nothing."""
    found = [(i, *_refused(line, given())) for i, line in enumerate(lines.splitlines(), 1)]
    rows = [[i, name, PLACES[place].lower(), said] for i, place, name, said in found]
    desc = " ".join(f"Line {i}: {name} {said}, {where}." for i, name, where, said in rows)
    desc += " " + " ".join(f"{PLACES[place]}, look at: {', '.join(said)}." for place, said in tools.items())
    return laid_out(title, desc, ["line", "name", "place", "state"], rows, _draw, found, tools, kind="it-1 it-large")


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
        return "file", named[1].rpartition(".")[2], "is not on the list"
    if isinstance(error, ModuleNotFoundError):
        return "program", error.name, "is gone"
    if not call:
        raise ValueError(f"no name: {error}")
    return "program", call, "only raises an error"


def _draw(found: list, tools: dict, wide: bool) -> list:
    """The shapes: three columns on a desktop, one below the other on a phone."""
    width = (ROOM - 2 * GAP) / 3 if wide else NARROW
    columns = {place: [one for one in found if one[1] == place] for place in PLACES}
    most, shapes, x, y = max(map(len, columns.values())), [], MARGIN, MARGIN
    for place, mine in columns.items():
        shapes.append(text(x, y + 13, PLACES[place], "it-name"))
        for j, (i, _, name, said) in enumerate(mine):
            box = Box([f"{i}  {name}", said], "it-element", bold=f"{i}  {name}")
            shapes += box.drawn(Place(x, y + 22 + (HIGH + GAP / 2) * j, width, HIGH))
        low = y + 22 + (HIGH + GAP / 2) * (most if wide else len(mine)) + 14
        shapes.append(text(x, low, "look at", "it-note"))
        shapes += [text(x, low + LINE * j, said, "it-value") for j, said in enumerate(tools[place], 1)]
        x, y = (x + width + GAP, y) if wide else (x, low + LINE * (len(tools[place]) + 1) + GAP)
    return shapes
