"""Drawing: shapes as SVG text, one `figure` around them.

Lengths are in SVG units, and one unit is one CSS pixel: figures are shown at their natural size.
No colour is written here: shapes carry classes, docs/assets/figures.css gives them colours.
The classes `it-1`, `it-2` and `it-3` on a group choose the tone (colour and dash) of what is in it.
"""

import hashlib
import json
from math import ceil
from xml.sax.saxutils import escape, quoteattr

from .checks import checked_label


def number(value) -> str:
    """A coordinate with at most one decimal, so that a figure is the same on every machine."""
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")  # + 0.0 turns -0.0 into 0.0


def element(name: str, *children: str, **attributes) -> str:
    """An SVG element around SVG; attributes are spelt the Python way (`class_`), numbers rounded, strings escaped."""
    said = {key: value if isinstance(value, str) else number(value) for key, value in attributes.items()}
    start = " ".join([name, *(f"{key.strip('_').replace('_', '-')}={quoteattr(said[key])}" for key in said)])
    inside = "".join(children)
    return f"<{start}>{inside}</{name}>" if inside else f"<{start}/>"


def group(kind: str, *children: str, **attributes) -> str:
    """Children that share a class, for instance the tone `it-1`."""
    return element("g", *children, class_=kind, **attributes)


def rect(x, y, width, height, kind: str, radius=0) -> str:
    """A rectangle by its upper left corner."""
    return element("rect", class_=kind, x=x, y=y, width=width, height=height, **({"rx": radius} if radius else {}))


def circle(x, y, radius, kind: str) -> str:
    """A circle by its middle."""
    return element("circle", class_=kind, cx=x, cy=y, r=radius)


def text(x, y, string: str, kind: str, anchor: str = "start") -> str:
    """One line of text, `y` at its baseline; `anchor` is start, middle or end."""
    return element("text", escape(string), class_=kind, x=x, y=y, text_anchor=anchor)


def box(middle, top, width, height, said: str, kind: str, radius=0) -> list:
    """A rectangle by the middle of its upper edge, with a line of text in it."""
    around = rect(middle - width / 2, top, width, height, kind, radius)
    return [around, text(middle, top + height / 2 + 4, said, "it-value", "middle")]


def cell(
    x, y, width, value, *marks, tones=(), index="", height=26, kind="it-cell", edge="it-edge", style="it-value"
) -> list:
    """A cell with a value over marks, and an index above it; its ground, its edge and its value have these classes. The
    tones share its ground out from top to bottom."""
    high = height / max(len(tones), 1)
    fills = [rect(x + 0.5, y + i * high, width - 1, high, "it-fill") for i in range(len(tones))]
    marks = [*(group(f"it-{tone}", fill) for tone, fill in zip(tones, fills)), *marks]
    shapes = [rect(x, y, width, height, kind), *marks, *([rect(x, y, width, height, edge)] if edge else [])]
    shapes += [text(x + width / 2, y + height / 2 + 4.5, value, style, "middle")] if value else []
    return shapes + ([text(x + width / 2, y - 5, str(index), "it-index", "middle")] if index != "" else [])


def path(*steps, kind: str = "it-line") -> str:
    """A path from SVG commands and numbers, for instance `path("M", 0, 0, "V", 9)`."""
    d = " ".join(step if isinstance(step, str) else number(step) for step in steps)
    return element("path", class_=kind, d=d)


def through(points: list) -> list:
    """Path steps from point to point."""
    return ["M", *points[0], *(part for point in points[1:] for part in ("L", *point))]


def s_curve(x0, y0, x1, y1) -> tuple:
    """Path steps from where the pen is, (x0, y0), to (x1, y1), leaving and arriving upright."""
    return ("C", x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1)


def arrow_head(x, y, way: str = "down") -> str:
    """A filled head whose tip is at (x, y), pointing down, up, left or right."""
    back = -7 if way in ("down", "right") else 7
    base = ("L", x - 4, y + back, "H", x + 4) if way in ("down", "up") else ("L", x + back, y - 4, "V", y + 4)
    return path("M", x, y, *base, "Z", kind="it-head")


def arrow(x, y, way: str, *steps) -> list:
    """A line of path steps, and of a last straight one into a head whose tip is at (x, y)."""
    short = -6 if way in ("down", "right") else 6
    return [path(*steps, *("V", y + short) if way in ("down", "up") else ("H", x + short)), arrow_head(x, y, way)]


def curve_right(x0, y0, x1, y1) -> list:
    """An arrow from (x0, y0) to (x1, y1), leaving and arriving level."""
    middle = (x0 + x1) / 2
    return [path("M", x0, y0, "C", middle, y0, middle, y1, x1 - 6, y1), arrow_head(x1, y1, "right")]


def arrow_down(x, y0, y1) -> list:
    """A straight arrow from (x, y0) down to (x, y1)."""
    return arrow(x, y1, "down", "M", x, y0)


def figure(body: list, width, height, title: str, desc: str, columns: list, rows: list, narrow: tuple = ()) -> str:
    """The finished SVG: title (the finding), description and data table first, then the shapes. `columns` and `rows`
    are the table behind the picture, of plain JSON values. `narrow` is what a phone shows instead: body, width and
    height of the same figure laid out anew. Ids are made from the content, so the same figure is the same bytes and
    different figures never share an id."""
    if ragged := [row for row in rows if len(row) != len(columns)]:
        raise ValueError(f"each row needs {len(columns)} entries, got {ragged[0]}")
    checked_label(title, "title")
    table = json.dumps({"columns": columns, "rows": rows}, separators=(",", ":"), allow_nan=False)
    content = "\0".join([title, desc, table, f"{ceil(width)} {ceil(height)}", *body])
    name = "figure-" + hashlib.sha256(content.encode()).hexdigest()[:12]
    head = [element("title", escape(title), id=f"{name}-title"), element("desc", escape(desc), id=f"{name}-desc")]
    head.append(element("metadata", escape(table)))
    label = {"role": "group" if 'tabindex="0"' in content else "img", "aria_labelledby": f"{name}-title {name}-desc"}
    if narrow:
        body = [*body, element("svg", *narrow[0], class_="figure it-narrow", **_size(*narrow[1:]), **label)]
    label["class_"] = "figure it-wide" if narrow else "figure"
    return element("svg", *head, *body, xmlns="http://www.w3.org/2000/svg", **label, **_size(width, height))


def _size(width, height) -> dict:
    return {"viewBox": f"0 0 {ceil(width)} {ceil(height)}", "width": ceil(width), "height": ceil(height)}
