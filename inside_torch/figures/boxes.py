"""Boxes of text in rows and columns, the arrows between them, and the figure of what is drawn, for both widths."""

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from textwrap import wrap
from typing import NamedTuple
from xml.etree import ElementTree

from inside_torch.drawing.layout import MARGIN, NARROW, PHONE, READ, ROOM, WIDE, code_width, widest
from inside_torch.drawing.svg import arrow, arrow_down, figure, group, rect, text

LINE = 16  # from one line of text in a box to the next
DASH = "\u2013"  # stands where there is nothing


class Place(NamedTuple):
    """Where a box stands: its upper left corner and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def low(self) -> float:
        return self.y + self.height

    @property
    def middle(self) -> float:
        """Of its upper and of its lower edge."""
        return self.x + self.width / 2

    @property
    def level(self) -> float:
        """The middle of its sides."""
        return self.y + self.height / 2


class Box(NamedTuple):
    """Lines of text, and the class of the box around them, in a tone or in none. One of the lines may be bold; they
    stand in the middle, or from the left edge on."""

    lines: list
    kind: str = "it-pill"
    bold: str = ""
    tone: str = ""
    anchor: str = "middle"
    radius: float = 4

    def drawn(self, place: Place, pad=8) -> list:
        """The shapes, where there is this place."""
        x = place.x + pad if self.anchor == "start" else place.middle
        kinds = ["it-name" if line == self.bold else "it-value" for line in self.lines]
        first = place.level + 4.5 - LINE * (len(kinds) - 1) / 2
        said = [text(x, first + LINE * i, self.lines[i], kind, self.anchor) for i, kind in enumerate(kinds)]
        around = rect(*place, self.kind, self.radius)
        return [group(self.tone, around) if self.tone else around, *said] if self.kind else said


def grid(rows: list, left=MARGIN, top=MARGIN, apart=0, gap=24, pad=14, room=0, even=True, size=READ) -> tuple:
    """Boxes in rows and columns, None where there is none: the shapes, and the Place of each box by (row, column). A
    column is as wide as its longest line and `pad`, all columns together as wide as `room`, and a row that has one box
    alone spans them. Columns are `apart` from each other, rows `gap`, which may be a list with what is below each row.
    The boxes of a row are of one height where it is `even`; `size` is that of their text."""
    count = max(map(len, rows))
    sizes = [[box and widest(box.lines, size) + pad for box in row] for row in rows]
    widths = [max([row[i] or 0 for row in sizes if len(row) == count]) for i in range(count)]
    spans = max([row[0] for row in sizes if len(row) < count], default=0)
    more = max(spans, room) - sum(widths) - apart * (count - 1)
    widths = [width + max(more, 0) / count for width in widths]
    lefts = [left + sum(widths[:i]) + apart * i for i in range(count)]
    shapes, places, gaps = [], {}, gap if isinstance(gap, list) else [gap] * len(rows)
    for i, (row, below) in enumerate(zip(rows, gaps)):
        heights = [LINE * len(box.lines) + 8 if box else 0 for box in row]
        for j, box in ((j, box) for j, box in enumerate(row) if box):
            width = widths[j] if len(row) == count else lefts[-1] + widths[-1] - left
            places[i, j] = Place(lefts[j], top, width, max(heights) if even else heights[j])
            shapes += box.drawn(places[i, j], pad / 2)
        top += max(heights) + below
    return shapes, places


def column(rows: list, top=MARGIN, gap=24, pad=16) -> tuple:
    """The boxes of a grid one below the other, as wide as a phone, with their lines broken where they are too long."""
    shapes, places, room = [], {}, (NARROW - pad) * 100 // code_width("-" * 100, READ)
    for i, row in enumerate(rows):
        for j, box in ((j, box) for j, box in enumerate(row) if box):
            box = box._replace(lines=[part for line in box.lines for part in wrap(line, room)])
            places[i, j] = Place(MARGIN, top, NARROW, LINE * len(box.lines) + 8)
            shapes += box.drawn(places[i, j], pad / 2)
            top = places[i, j].low + 4
        top += gap - 4
    return shapes, places


def down(places: Iterable) -> list:
    """Arrows from each place to the next one."""
    return [shape for a, b in pairwise(places) for shape in arrow_down(b.middle, a.low + 1, b.y)]


def across(places: Iterable) -> list:
    """Arrows from each place to the next one, to the right."""
    ends = list(pairwise(places))
    return [shape for a, b in ends for shape in arrow(b.x, b.level, "right", "M", a.right + 1, b.level)]


def laid_out(title: str, desc: str, columns: list, rows: list, draw: Callable, *given, kind: str = "it-large") -> str:
    """The figure of the shapes that `draw(*given, wide)` returns, for a desktop and, where they are others, for a
    phone. A layout is as large as its boxes and its text, unless `draw` returns shapes, width and height. Raises
    ValueError where there is no room for one."""
    made = [one if isinstance(one, tuple) else (one, *extent(one)) for one in (draw(*given, w) for w in (True, False))]
    drawn = [([group(kind, *shapes)] if kind else shapes, *size) for shapes, *size in made]
    for (_, width, _), most in zip(drawn, (WIDE, WIDE if drawn[0] == drawn[1] else PHONE)):
        if width > most:
            raise ValueError(f"too wide, a text is too long: {width:.0f} px, and {most} can be drawn")
    return figure(*drawn[0], title, desc, columns, rows, () if drawn[0] == drawn[1] else drawn[1])


def extent(shapes: list, size=READ) -> tuple:
    """Width and height of what shapes fill, with names of 13 px and other text of this size."""
    xs, ys = [0.0], [0.0]
    for one in ElementTree.fromstring(group("", *shapes)).iter():
        x, y, wide, high, r = (float(one.get(name, 0)) for name in ("x", "y", "width", "height", "r"))
        if one.tag == "text":
            wide, high = code_width(one.text, READ if "it-name" in one.get("class") else size), 5
            x -= {"start": 0, "middle": wide / 2, "end": wide}[one.get("text-anchor")]
        for command, values in re.findall(r"([A-Z])([^a-zA-Z]*)", one.get("d", "")):
            places = [float(value) for value in values.split()]
            xs += {"H": places, "V": []}.get(command, places[::2])
            ys += {"H": [], "V": places}.get(command, places[1::2])
        xs += [x + wide, float(one.get("cx", 0)) + r]
        ys += [y + high, float(one.get("cy", 0)) + r]
    return max(xs) + MARGIN, max(ys) + MARGIN


def tally(heads: list, rows: list, least: tuple, wide: bool) -> list:
    """A table: rows of a label and a value for each head, in a box that is pale where the value is no, asks or a dash;
    no box where there is none. A row that is a label alone is a heading. Labels stand left of the boxes where there is
    room, else above them. A box has its `least` width on a phone, and on a desktop."""
    room, least = (ROOM, least[1]) if wide else (NARROW, least[0])
    widths, shapes, y = [max(least, code_width(head, READ) + 6) for head in heads], [], MARGIN + 24
    labels = widest(row[0] for row in rows if len(row) > 1) + 10
    beside = labels + sum(widths) + 5 * len(heads) - 5 <= room
    lefts = [MARGIN + labels * beside + sum(widths[:i]) + 5 * i for i in range(len(heads))]
    for x, width, head in zip(lefts, widths, heads):
        shapes.append(text(x + width / 2, MARGIN + 13, head, "it-name", "middle"))
    for label, *values in rows:
        at = (17 if beside else 13) if values else 20
        shapes.append(text(MARGIN, y + at, label, "it-value" if values else "it-note"))
        y += 0 if beside or not values else 20
        for x, width, value in zip(lefts, widths, values):
            kind = "it-edge" if value in ("no", "asks", DASH) else "it-element"
            shapes += Box([value or DASH], kind if value else "", radius=3).drawn(Place(x, y, width, 24))
        y += (30 if beside else 32) if values else 26
    return shapes
