"""The glossary: each term of the chapters once, in the words of the first page that defines it, with its page."""

from __future__ import annotations

import re
from pathlib import Path

from bs4 import BeautifulSoup
from conftest import BOOK, ROOT

from inside_torch.book import Page, reading_order
from inside_torch.render import glossary

TEXTS = {
    "knots.md": "# Knots\n\nFirst. A *bowline* is a [loop](#loops) of `rope`; "
    "see [this](src:a.py#b) and\n[ropes](ropes.md#x). It holds.\n",
    "ropes.md": "# Ropes\n\nA *bowline* again, and its *strand*: thin.\n\n```text\na *fence* is none\n```\n",
    "exercises/e.md": "# E\n\nA *task* is none.\n",
    "notes.md": "# N\n\nIt is *really* so, and *old*.\n",
}
PAGES = [Page(ROOT / "docs" / src, src, f"docs/{src}", text) for src, text in TEXTS.items()]


def test_every_term_of_the_chapters_is_listed_once_with_its_page(book: Path):
    terms = {name for page in BOOK.pages if page.kind == "chapter" for name in map(str.lower, page.terms)}
    built = BeautifulSoup((book / "reference" / "glossary.html").read_text(encoding="utf-8"), "html.parser")
    entries = built.select("article ul > li:has(> strong[id])")
    names = [entry.strong.get_text().lower() for entry in entries]
    assert len(terms) > 50 and sorted(terms) == names == sorted(set(names))
    for name, entry in zip(names, entries):
        assert (book / "reference" / entry.a["href"]).exists() and name in entry.get_text().partition("·")[2].lower()
    assert built.get_text().count("Often wrong:") == len(
        glossary.mistakes(
            (ROOT / "docs/reference/glossary.md").read_text().partition("<!-- glossary\n")[2].partition("-->")[0]
        )
    )


def test_an_entry_is_the_defining_sentence_with_links_that_lead_from_here():
    made = glossary.markdown("bowline: It slips.\n", PAGES, "reference").split("\n")
    assert made == [
        "- **bowline**{ #bowline } · [Knots](../knots.md)<br>A bowline is a [loop](../knots.md#loops) of `rope`; see "
        "[this](src:a.py#b) and [ropes](../ropes.md#x).<br>**Often wrong:** It slips.",
        "- **really**{ #really } · [N](../notes.md)<br>It is really so, and *old*.",
        "- **strand**{ #strand } · [Ropes](../ropes.md)<br>A bowline again, and its strand: thin.",
    ]


def test_a_link_to_a_term_of_another_page_has_the_definition_as_its_title():
    terms = glossary.defined(glossary.chapters(PAGES))
    same = '<a href="ropes.html#x">strand</a> <a href="knots.html">Bowline</a> <a href="https://a.b">bowline</a>'
    made = glossary.defining(f'{same} <a href="knots.html#x">bowlines</a>', PAGES[1], terms)
    title = "A bowline is a loop of rope; see this and ropes."
    assert made == f'{same} <a href="knots.html#x" title="{title}">bowlines</a>'


def test_the_links_to_terms_say_in_the_book_what_the_glossary_says(book: Path):
    entries = BeautifulSoup((book / "reference" / "glossary.html").read_text(encoding="utf-8"), "html.parser")
    said = " ".join(entries.article.get_text().split())
    chapters = [page for page in BOOK.pages if page.kind == "chapter"]
    built = [BeautifulSoup((book / page.url).read_text(encoding="utf-8"), "html.parser") for page in chapters]
    titles = [link["title"] for page in built for link in page.select("article p a[title]:not([href^=http])")]
    assert len(titles) > 100 and all(" ".join(title.split()).rstrip(".") in said for title in titles)


def test_a_mistake_about_no_term_is_said():
    assert f"- **splice**: {glossary.UNDEFINED}" in glossary.markdown("splice: x\n", PAGES)


def test_the_sidebar_holds_the_exercises_in_a_group_that_is_folded(book: Path):
    menu = BeautifulSoup((book / "tensor.html").read_text(encoding="utf-8"), "html.parser").select_one(
        ".md-nav--primary"
    )
    links = menu.select("a[href*='exercises/']")
    assert len(links) >= 13
    (group,) = {id(link.find_parent("nav")): link.find_parent("nav") for link in links}.values()
    assert group["aria-expanded"] == "false" and not re.search("md-nav__item--section", " ".join(group.parent["class"]))


def test_the_order_is_that_of_the_navigation():
    order = reading_order(ROOT)
    assert order[0] == "index.md" and sorted(order) == sorted(page.src for page in BOOK.pages)
    assert order.index("numpy.md") < order.index("forward.md") < order.index("backward.md") < order.index("compile.md")
