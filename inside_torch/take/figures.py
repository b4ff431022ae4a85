"""A figure for a notebook, as a picture; and for who cannot see it, as text: its finding, description and data."""

import base64
import functools
import json
import re
from xml.etree import ElementTree

from inside_torch.edition import ROOT
from inside_torch.render.figures import SVG, checked_figure, layouts
from inside_torch.take.prose import folded


@functools.cache
def style() -> str:
    """What gives the figures their colors: those of the light theme, on paper of their own."""
    css = (ROOT / "docs" / "assets" / "figures.css").read_text(encoding="utf-8")
    return " ".join(re.sub(r"/\*.*?\*/", "", css, flags=re.S).split()) + " svg { background: var(--it-paper); }"


def literal(text: str) -> str:
    """Text in which nothing is a link, as `model[0](x)` would be."""
    return re.sub(r"([\[\]])", r"\\\1", text)


def cell(value: object) -> str:
    return literal(str(value)).replace("|", "\\|").replace("\n", " ")


def told(drawing: ElementTree.Element) -> tuple[str, str, str]:
    """The finding and the description of a figure, and its data as a Markdown table."""
    title, description, data = (drawing.find(SVG + name).text for name in ("title", "desc", "metadata"))
    table = json.loads(data)
    rows = [table["columns"], ["---"] * len(table["columns"]), *table["rows"]]
    return title, literal(description), "\n".join("| " + " | ".join(map(cell, row)) + " |" for row in rows)


def as_text(printed: str) -> str:
    """A figure in words."""
    title, description, table = told(checked_figure(printed))
    return f"*Figure: {title}.* {description}\n\n{table}"


def as_picture(printed: str) -> str:
    """A figure as an image that a Markdown text carries: JupyterLab and GitHub show no SVG that is an attachment."""
    drawing = layouts(checked_figure(printed))[0]
    title, description, table = told(drawing)
    drawing.remove(drawing.find(SVG + "metadata"))
    ElementTree.SubElement(drawing, SVG + "style").text = style()
    ElementTree.register_namespace("", SVG[1:-1])
    data = base64.b64encode(ElementTree.tostring(drawing)).decode()
    alt = re.sub(r"([\[\]\\])", r"\\\1", title)
    return f"![{alt}](data:image/svg+xml;base64,{data})\n\n*{title}.* {description}\n\n" + folded(
        "The figure as a table", table
    )
