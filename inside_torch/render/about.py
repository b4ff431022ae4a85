"""What a page says about itself: how long it takes, when it changed, how to take it along, mend it and cite it."""

import functools
import html
import os
import re
from dataclasses import dataclass, field
from math import ceil
from posixpath import basename, dirname, relpath
from urllib.parse import urlencode, urlparse

from inside_torch.book import Book, Page
from inside_torch.edition import Edition, site_url
from inside_torch.history import Commit, book_commit, history
from inside_torch.render import glossary
from inside_torch.take import exercise
from inside_torch.take.files import file_names

WORDS, LINES = 150, 25  # what one reads in a minute: of prose, and of code with its output
DOWNLOAD = "Download the files"  # the words of an exercise's page that lead to them


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

    @functools.cached_property
    def terms(self) -> dict[str, glossary.Term]:
        return glossary.defined(glossary.chapters(self.book.pages))

    @property
    def news(self) -> bool:
        """Whether there is a page and a feed of what changed."""
        return bool(self.repository and self.commits)

    @functools.cached_property
    def origin(self) -> tuple[str, str]:
        """What reports and citations state: the commit of the book and torch, and the year, empty without a commit."""
        found = book_commit()
        commit, year = (found[0][:10], str(found[1].year)) if found else ("without a commit", "")
        return f"Book {commit}, torch {self.edition.release}", year


def minutes(page_html: str) -> int:
    """How long a page takes to read, in minutes, rounded up; not counted is what is folded away or drawn."""
    innermost = re.compile(r"<details(?:(?!<details).)*?</details>|<svg.*?</svg>", re.S)
    while innermost.search(page_html):
        page_html = innermost.sub("", page_html)
    code = "".join(re.findall(r"<(?:code|samp)>(.*?)</(?:code|samp)>", page_html, re.S))
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


def with_files(page_html: str, page: Page) -> str:
    """The page of an exercise whose words on its files lead to them."""
    for file in exercise.offered(page):
        if file.endswith(".zip"):
            page_html = page_html.replace(DOWNLOAD, link(basename(file), DOWNLOAD, " download"))
    return page_html


def do_anywhere(page: Page, imprint: Imprint) -> str:
    """The links to what an exercise needs, wherever the reader is."""
    offered = [basename(file) for file in exercise.offered(page)]
    links = [link(file, "its files", " download") for file in offered if file.endswith(".zip")]
    for notebook in (file for file in offered if file.endswith(".ipynb")):
        links.append(link(notebook, "a notebook of its own", " download"))
        links += in_colab(notebook, "that notebook in Colab", imprint)
    return "Do it anywhere: " + ", ".join(links) if links else ""


def changed(page: Page, imprint: Imprint) -> str:
    """The date of the page's last change, and the way to the others."""
    day = next((commit.day for commit in imprint.commits if page in commit.pages), "")
    news = link(relpath("changes.html", dirname(page.src) or "."), "News of the book") if imprint.news else ""
    return " · ".join(filter(None, [day and f"Last changed on {day}", news]))


def mend(page: Page, imprint: Imprint) -> str:
    """The links to edit the page, and to report what is wrong with it: book.js adds one for each section."""
    if not imprint.repository:
        return ""
    where = f"Page: {page.title} ({imprint.site}{page.url})\nSection: \n{imprint.origin[0]}"
    report = {"title": f"{page.title}: ", "body": f"{where}\n\nWhat is wrong:\n"}
    edit = link(f"{imprint.repository}/edit/main/{page.name}", "Edit this page")
    issue = link(f"{imprint.repository}/issues/new?{urlencode(report)}", "Report a mistake", ' class="it-report"')
    return f"{edit} · {issue}"


def cite(page: Page, imprint: Imprint) -> str:
    """The page as BibTeX knows it."""
    key, title = page.stem.replace("/", "-"), re.sub(r"([&%$#_{}])", r"\\\1", page.title)
    note, year = imprint.origin
    url = imprint.site and imprint.site + page.url
    known = {"title": f"Inside PyTorch: {title}", "year": year, "note": note, "url": url}
    fields = "".join(f"  {name} = {{{said}}},\n" for name, said in known.items() if said)
    return f"Cite it: <pre>@misc{{inside-pytorch-{key},\n{html.escape(fields)}}}</pre>"


def about_html(page: Page, page_html: str, imprint: Imprint) -> str:
    """The line under a page's title, with its other forms; it opens to what else there is to know of the page."""
    takes, asked = minutes(page_html), sum(fence.info == "quiz" for fence in page.fences)
    read = " to read" * (page.kind == "exercise")
    time = f"{takes} minute{'s' * (takes > 1)}{read}" + f" and {asked} quiz{'zes' * (asked > 1)}" * bool(asked)
    said = [time, f"torch {imprint.edition.release}", *take_along(page, imprint)]
    rows = (make(page, imprint) for make in (do_anywhere, changed, mend, cite))
    return (
        f'<div class="it-about" data-search-exclude><p>{" · ".join(said)}</p><details><summary>cite, change</summary>'
        f"<ul>{''.join(f'<li>{row}</li>' for row in rows if row)}</ul></details></div>"
    )
