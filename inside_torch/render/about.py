"""What a page says about itself: how long it takes, when it changed, how to take it along, mend it and cite it."""

from __future__ import annotations

import functools
import html
import os
import re
from dataclasses import dataclass, field
from math import ceil
from posixpath import basename, dirname, relpath
from urllib.parse import urlencode, urlparse

from inside_torch.book import Book, Page
from inside_torch.edition import Edition, book_commit, site_url
from inside_torch.history import Commit, history
from inside_torch.take import exercise
from inside_torch.take.files import file_names

WORDS, LINES = 200, 40  # what one reads in a minute: of prose, and of code with its output
REPORT = "Page: {title} ({url})\nSection: \nBook {commit}, torch {torch}\n\nWhat is wrong:\n"
CITATION = """\
@misc{{inside-pytorch-{key},
  title = {{Inside PyTorch: {title}}},
  year = {{{year}}},
  note = {{Book {commit}, torch {torch}}},
  url = {{{url}}}
}}"""


@dataclass(frozen=True)
class Imprint:
    """Where the book lives, as far as the environment says, and where it comes from: the same for every page."""

    book: Book
    edition: Edition
    site: str = field(default_factory=site_url)
    repository: str = field(default_factory=lambda: os.environ.get("REPO_URL", "").rstrip("/"))

    @functools.cached_property
    def commits(self) -> list[Commit]:
        return history(self.book)

    @property
    def news(self) -> bool:
        """Whether there is a page and a feed of what changed."""
        return bool(self.repository and self.commits)

    @functools.cached_property
    def origin(self) -> dict[str, str]:
        """What every report and citation states: the commit of the book, its year, and torch."""
        found = book_commit()
        commit, year = (found[0][:10], str(found[1].year)) if found else ("without a commit", "")
        return {"commit": commit, "year": year, "torch": self.edition.release}


def minutes(page_html: str) -> int:
    """How long a page takes to read, in minutes, rounded up; not counted is what is folded away or drawn."""
    page_html = re.sub(r"<details.*?</details>|<svg.*?</svg>", "", page_html, flags=re.S)
    code = "\n".join(re.findall(r"<(?:code|samp)>(.*?)</(?:code|samp)>", page_html, re.S))
    prose = re.sub(r"<pre.*?</pre>|<[^>]+>", " ", page_html, flags=re.S)
    return ceil(len(prose.split()) / WORDS + code.count("\n") / LINES)


def description(page_html: str) -> str:
    """The first paragraph of a rendered page as text, escaped."""
    found = re.search(r"<p>(.*?)</p>", page_html, re.S)
    text = html.unescape(re.sub(r"<[^>]+>", "", found[1])) if found else ""
    return html.escape(" ".join(text.split()))


def link(address: str, text: str, attributes: str = "") -> str:
    return f'<a href="{html.escape(address)}"{attributes}>{text}</a>'


def in_colab(notebook: str, text: str, imprint: Imprint) -> list[str]:
    """The link that opens a notebook in Colab, from the branch that a workflow pushes; none without an address."""
    repository = urlparse(imprint.repository).path.strip("/")
    address = f"https://colab.research.google.com/github/{repository}/blob/notebooks/{notebook}"
    return [link(address, text)] if repository else []


def take_along(page: Page, imprint: Imprint) -> list[str]:
    """The links to the page's other forms."""
    files = file_names(page.stem)
    links = [link(basename(file), form, " download") for form, file in files.items()]
    return links + in_colab(basename(files["notebook"]), "open in Colab", imprint)


def do_anywhere(page: Page, imprint: Imprint) -> str:
    """The links to what an exercise needs, wherever the reader is."""
    name = basename(page.stem)
    if page.kind != "exercise" or not exercise.offered(page):
        return ""
    links = [
        link(f"{name}.zip", "its files", " download"),
        link(f"do-{name}.ipynb", "a notebook of its own", " download"),
    ]
    return "Do it anywhere: " + ", ".join(links + in_colab(f"do-{name}.ipynb", "that notebook in Colab", imprint))


def changed(page: Page, imprint: Imprint) -> str:
    """The date of the page's last change, and the way to the others."""
    day = next((commit.day for commit in imprint.commits if page in commit.pages), "")
    news = link(relpath("changes.html", dirname(page.src) or "."), "News of the book") if imprint.news else ""
    return " · ".join(filter(None, [day and f"Last changed on {day}", news]))


def mend(page: Page, imprint: Imprint) -> str:
    """The links to edit the page, and to report what is wrong with it: book.js adds one for each section."""
    if not imprint.repository:
        return ""
    report = {
        "title": f"{page.title}: ",
        "body": REPORT.format(title=page.title, url=imprint.site + page.url, **imprint.origin),
    }
    edit = link(f"{imprint.repository}/edit/main/{page.name}", "Edit this page")
    issue = link(f"{imprint.repository}/issues/new?{urlencode(report)}", "Report a mistake", ' class="it-report"')
    return f"{edit} · {issue}"


def cite(page: Page, imprint: Imprint) -> str:
    """The page as BibTeX knows it."""
    title = re.sub(r"([&%$#_{}])", r"\\\1", page.title)
    filled = CITATION.format(
        key=page.stem.replace("/", "-"), title=title, url=imprint.site + page.url, **imprint.origin
    )
    known = {"url": imprint.site, "year": imprint.origin["year"]}
    unknown = tuple(f"  {name} =" for name, value in known.items() if not value)
    shown = "\n".join(line for line in filled.split("\n") if not line.startswith(unknown))
    return f"Cite it: <pre>{html.escape(shown)}</pre>"


def about_html(page: Page, page_html: str, imprint: Imprint) -> str:
    """The line under a page's title, with its other forms; it opens to what else there is to know of the page."""
    takes = minutes(page_html)
    said = [f"{takes} minute{'s' if takes > 1 else ''}", f"torch {imprint.edition.release}", *take_along(page, imprint)]
    rows = (make(page, imprint) for make in (do_anywhere, changed, mend, cite))
    return (
        f'<div class="it-about" data-search-exclude><p>{" · ".join(said)}</p><details><summary>cite, change</summary>'
        f"<ul>{''.join(f'<li>{row}</li>' for row in rows if row)}</ul></details></div>"
    )
