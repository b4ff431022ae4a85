"""The Markdown extension: a link to `src:...` becomes a permalink, or a message that hooks.py reports."""

from __future__ import annotations

import html
import re
from xml.etree.ElementTree import Element

from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor

from inside_torch import citations
from inside_torch.citations.proof import UnprovenError

SCHEME = "src:"
LINK = re.compile(r'<a href="(src:[^"]*)"[^>]*>(.*?)</a>', re.S)


def cite(link: Element) -> None:
    """Make a link to `src:...` lead to the cited line and show it; on failure make it the reason why not."""
    reference = html.unescape(link.get("href", "")).removeprefix(SCHEME)
    try:
        found = citations.citation(reference)
    except UnprovenError as error:
        link[:] = []
        link.tag, link.text = "span", f"the citation {SCHEME}{reference} is not proven: {error}"
        link.attrib = {"class": "it-failure", "data-citation": reference}
    else:
        link.attrib |= {"href": found.link, "title": f"{found.place}: {found.text}", "class": "it-citation"}


def in_html(page: str) -> str:
    """A page that something else has rendered, a notebook, with its links to `src:...` resolved."""

    def cited(m: re.Match[str]) -> str:
        link = Element("a", href=m[1])
        cite(link)
        attributes = "".join(f' {name}="{html.escape(value)}"' for name, value in link.items())
        return f"<{link.tag}{attributes}>{html.escape(link.text) if link.text else m[2]}</{link.tag}>"

    return LINK.sub(cited, page)


class CitedLinks(Treeprocessor):
    """Every link of a page, wherever it stands."""

    def run(self, root: Element) -> None:
        for link in list(root.iter("a")):
            if html.unescape(link.get("href", "")).startswith(SCHEME):
                cite(link)


class Citations(Extension):
    """Markdown extension for `[text](src:PATH#SYMBOL)`."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Markdown's name
        md.treeprocessors.register(CitedLinks(md), "it-citations", 15)  # inline: 20, MkDocs' check of links: 0
