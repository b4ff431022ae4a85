"""A notebook page as the rest of the book looks: its sources, outputs and prose, without the half
megabyte of styles and scripts (and the request to another host) that mkdocs-jupyter puts around them."""

from __future__ import annotations

import html

from bs4 import BeautifulSoup, Tag

from inside_torch.render import output_html

PARTS = ".jp-RenderedMarkdown, .highlight-ipynb pre, .jp-OutputArea-output"


def prose(part: Tag) -> str:
    """The HTML of a Markdown cell, its headings linked as on other pages."""
    for anchor in part.select("a.anchor-link"):
        anchor["class"], anchor["title"], anchor.string = "headerlink", "Link to this section", "#"
    return part.decode_contents()


def output(part: Tag) -> str:
    """What a cell printed. Raises ValueError for anything but plain text."""
    kind = part.get("data-mime-type", "unknown")
    if kind != "text/plain":
        raise ValueError(f"a cell put out {kind}: {part.get_text().strip()[:500]}")
    return output_html(part.select_one("pre").get_text())


def rendered(page_html: str) -> str:
    """The page made anew from what mkdocs-jupyter rendered. Raises ValueError as `output` does."""
    made = []
    for part in BeautifulSoup(page_html, "html.parser").select(PARTS):
        if "jp-RenderedMarkdown" in part.get("class", ""):
            made.append(prose(part))
        elif part.name == "pre":
            source = part.decode_contents().rstrip()
            source = f'<div class="language-python highlight"><pre><code>{source}</code></pre></div>'
            made.append(f'<div class="it-block">{source}</div>')
        else:
            made.append(made.pop().removesuffix("</div>") + output(part) + "</div>")
    return "\n".join(made)


def page(page_html: str, name: str) -> str:
    """As `rendered`; a cell that may not be shown becomes a message, which hooks.py finds and reports."""
    try:
        return rendered(page_html)
    except ValueError as error:
        return f'<div class="it-failure" data-notebook="{name}">{html.escape(str(error))}</div>'
