"""A small drawing toolkit: shapes as SVG text, one `figure` around them.

Lengths are in SVG units, and one unit is one CSS pixel: figures are shown at their natural size.
No colour is written here: shapes carry classes, docs/assets/figures.css gives them colours.
The classes `it-1`, `it-2` and `it-3` on a group choose the tone (colour and dash) of what is in it.
"""

import hashlib
import json
from math import ceil
from xml.sax.saxutils import escape, quoteattr

CELL = 26  # side of a cell; twelve of them and the margin fit a phone 360 px wide
MARGIN = 4  # around every figure
CODE = 0.602  # advance of one character in the usual monospaced fonts, in em


def number(value) -> str:
    """A coordinate with at most one decimal, so that a figure is the same on every machine."""
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")  # + 0.0 turns -0.0 into 0.0


def element(name: str, *children: str, **attributes) -> str:
    """One SVG element around children that are SVG already; `class_` and `text_anchor` are spelt
    the Python way, numbers are rounded, strings escaped."""
    written = "".join(
        f" {key.strip('_').replace('_', '-')}=" + quoteattr(value if isinstance(value, str) else number(value))
        for key, value in attributes.items()
    )
    inside = "".join(children)
    return f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>"


def group(kind: str, *children: str) -> str:
    """Children that share a class, for instance the tone `it-1`."""
    return element("g", *children, class_=kind)


def rect(x, y, width, height, kind: str, radius=0) -> str:
    """A rectangle by its upper left corner."""
    round_ = {"rx": radius} if radius else {}
    return element("rect", class_=kind, x=x, y=y, width=width, height=height, **round_)


def text(x, y, string: str, kind: str, anchor: str = "start") -> str:
    """One line of text, `y` at its baseline; `anchor` is start, middle or end."""
    return element("text", escape(string), class_=kind, x=x, y=y, text_anchor=anchor)


def path(*steps, kind: str = "it-line") -> str:
    """A path from SVG commands and numbers, for instance `path("M", 0, 0, "V", 9)`."""
    d = " ".join(step if isinstance(step, str) else number(step) for step in steps)
    return element("path", class_=kind, d=d)


def s_curve(x0, y0, x1, y1) -> tuple:
    """Path steps from where the pen is, (x0, y0), to (x1, y1), leaving and arriving upright."""
    return ("C", x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1)


def arrow_head(x, y, up: bool = False) -> str:
    """A filled head whose tip is at (x, y), pointing down, or up."""
    back = 7 if up else -7
    return path("M", x, y, "L", x - 4, y + back, "H", x + 4, "Z", kind="it-head")


def code_width(string: str, size=12) -> int:
    """Width of monospaced text, `size` in px. Characters outside ASCII count as two."""
    return ceil(sum(1 if char.isascii() else 2 for char in string) * size * CODE)


def spread(wanted: list, widths: list, gap) -> list:
    """Centres as near as can be to the wanted ones, kept in order and `gap` apart.

    The mean of the leftmost packing and the rightmost one: both keep the distances, so it does."""
    from_left, from_right = list(wanted), list(wanted)
    for i in range(1, len(wanted)):
        apart = (widths[i - 1] + widths[i]) / 2 + gap
        from_left[i] = max(wanted[i], from_left[i - 1] + apart)
    for i in reversed(range(len(wanted) - 1)):
        apart = (widths[i] + widths[i + 1]) / 2 + gap
        from_right[i] = min(wanted[i], from_right[i + 1] - apart)
    return [(a + b) / 2 for a, b in zip(from_left, from_right)]


def fan(count: int, step, room) -> list:
    """Offsets of `count` lines that share an end, `step` apart or as near as `room` allows."""
    step = min(step, room / max(count - 1, 1))
    return [(i - (count - 1) / 2) * step for i in range(count)]


def checked_label(label, what: str) -> str:
    """The label, when it is one line of visible text.

    Raises TypeError when it is no string, ValueError when it is blank or holds control characters.
    """
    if not isinstance(label, str):
        raise TypeError(f"{what} must be a str, got {type(label).__name__}")
    if not label.strip() or not label.isprintable():
        raise ValueError(f"{what} must be one line of visible text, got {label!r}")
    return label


def figure(body: list, width, height, *, title: str, desc: str, columns: list, rows: list) -> str:
    """The finished SVG: title (the finding), description and data table first, then the shapes.

    `columns` and `rows` are the table behind the picture, of plain JSON values. Ids are made from
    the content, so the same figure is the same bytes and different figures never share an id.
    """
    if ragged := [row for row in rows if len(row) != len(columns)]:
        raise ValueError(f"each row needs {len(columns)} entries, got {ragged[0]}")
    checked_label(title, "title")
    table = json.dumps({"columns": columns, "rows": rows}, separators=(",", ":"), allow_nan=False)
    width, height = ceil(width), ceil(height)
    content = "\0".join([title, desc, table, f"{width} {height}", *body])
    name = "figure-" + hashlib.sha256(content.encode()).hexdigest()[:12]
    return element(
        "svg",
        element("title", escape(title), id=f"{name}-title"),
        element("desc", escape(desc), id=f"{name}-desc"),
        element("metadata", escape(table)),
        *body,
        class_="figure",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )
