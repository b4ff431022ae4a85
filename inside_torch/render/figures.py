"""Figures: the one SVG a figure fence printed, checked, and the HTML around it."""

import html
import json
import re
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
DRAWN = frozenset("svg g title desc metadata defs marker path rect circle line polyline polygon text tspan".split())
ATTRIBUTE = re.compile(r"(?!on|style$|.*href$)[\w-]+")
OUTSIDE = re.compile(r"url\((?!#)|[a-z]+script:", re.I)


def table_html(columns: list[str], rows: list[list]) -> str:
    """A data table as HTML."""
    head = "".join(f'<th scope="col">{html.escape(str(column))}</th>' for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(value))}</td>" for value in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def checked_figure(output: str) -> ElementTree.Element:
    """The one SVG a figure printed; raises ValueError when it is anything else or could run or load something."""
    if "<!" in output or "<?" in output:
        raise ValueError("a figure prints an SVG without declarations, comments or processing instructions")
    try:
        svg = ElementTree.fromstring(output)
    except ElementTree.ParseError as error:
        raise ValueError(f"a figure prints one SVG, and this does not parse as one: {error}") from None
    if svg.tag != SVG + "svg":
        raise ValueError(f"a figure prints one SVG, not <{svg.tag}>")
    for element in svg.iter():
        name = element.tag.removeprefix(SVG)
        if name not in DRAWN:
            raise ValueError(f"a figure must not contain <{name}>")
        for attribute, value in element.items():
            if not ATTRIBUTE.fullmatch(attribute) or OUTSIDE.search(value):
                raise ValueError(f"a figure must not contain {attribute}={value!r}")
    for part in ("title", "desc", "metadata"):
        found = svg.find(SVG + part)
        if found is None or not (found.text or "").strip():
            raise ValueError(f"a figure needs a <{part}>")
    return svg


def data_of(output: str) -> dict:
    """The data of a figure that was printed: its table, and its lab where it is one."""
    return json.loads(ElementTree.fromstring(output).find(SVG + "metadata").text)


def layouts(svg: ElementTree.Element) -> list[ElementTree.Element]:
    """A drawing, and, taken out of it, the one that a narrow page shows in its place, where there is one."""
    narrow = svg.findall(SVG + "svg")
    for one in narrow:
        svg.remove(one)
    return [svg, *narrow]


def figure_html(svg: ElementTree.Element, link: str, summary: str = "") -> str:
    """A figure: the drawing in a box that scrolls by itself, its title and a link as caption, its data as a table.
    Where the table has a summary of its own, it says all that the description does."""
    title, metadata = svg.find(SVG + "title"), svg.find(SVG + "metadata")
    data = json.loads(metadata.text)
    svg.remove(metadata)
    ElementTree.register_namespace("", SVG[1:-1])
    caption, told = html.escape(title.text), f"<p>{html.escape(svg.find(SVG + 'desc').text)}</p>" * (not summary)
    drawing = "".join(ElementTree.tostring(one, encoding="unicode") for one in layouts(svg))
    whole = (
        f'<figure class="it-figure" style="--it-width: {svg.get("width")}px"><div class="it-scroll" tabindex="0" '
        f'role="group" aria-label="{caption}">{drawing}</div><figcaption><strong>{caption}</strong> {link}</figcaption>'
        f'<details><summary>{summary or "The figure as a table"}</summary>{told}<div class="it-scroll" tabindex="0">'
        f"{table_html(data['columns'], data['rows'])}</div></details></figure>"
    )
    return lab_html(whole, data["lab"]) if "lab" in data else whole


def lab_html(figure: str, lab: dict) -> str:
    """A figure in the element of its lab, with the files of docs/labs that assets/book.js loads to bring it to life."""
    name, recorded = lab["name"], [f"{lab['name']}.data.js"] * (lab["recording"] is not None)
    files = " ".join(["lab.css", "lab.js", *recorded, *lab["files"], f"{name}.js"])
    button = f'<button type="button">{html.escape(lab["invitation"])}</button>'
    attributes = f'class="it-lab" id="{name}" data-files="{files}"'
    return f'<{name} {attributes}>{figure}<div class="it-lab-open">{button}</div></{name}>'
