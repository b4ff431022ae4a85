"""Links to `src:...` become permalinks, in Markdown and in the HTML of a notebook."""

import html
import re
from collections.abc import Callable
from xml.etree.ElementTree import Element, tostring

from markdown import Markdown
from markdown.treeprocessors import Treeprocessor

from inside_torch.citations import Proofs

SCHEME = "src:"
SHOWN = "\0"  # stands for the HTML that a link shows
LINK = re.compile(r'<a href="(src:[^"]*)"[^>]*>(.*?)</a>', re.S)


def cite(link: Element, proofs: Proofs) -> None:
    """Make a link to `src:...` lead to the cited line and show it; on failure make it the reason why not."""
    reference = html.unescape(link.get("href")).removeprefix(SCHEME)
    if failure := proofs.failure(reference):
        link[:] = []
        link.tag, link.text, link.attrib = "span", failure, {"class": "it-failure"}
    else:
        found = proofs.citation(reference)
        title = f"{found.place}: {found.text}"
        link.attrib |= {"href": found.link(proofs.edition.commit), "title": title, "class": "it-citation"}


def in_html(page: str, proofs: Proofs) -> str:
    """A page that something else has rendered, a notebook, with its links to `src:...` resolved."""

    def cited(found: re.Match[str]) -> str:
        link = Element("a", href=found[1])
        link.text = SHOWN
        cite(link, proofs)
        return tostring(link, "unicode").replace(SHOWN, found[2])

    return LINK.sub(cited, page)


class CitedLinks(Treeprocessor):
    """Every link of a page, wherever it stands: after the inline patterns (20), before MkDocs checks links (0)."""

    def __init__(self, md: Markdown, proofs: Callable[[], Proofs]) -> None:
        super().__init__(md)
        self.proofs = proofs

    def run(self, root: Element) -> None:
        for link in list(root.iter("a")):
            if html.unescape(link.get("href", "")).startswith(SCHEME):
                cite(link, self.proofs())
