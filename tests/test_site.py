"""The real book, built: what a reader's browser gets."""

from __future__ import annotations

import functools
import html
import json
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from conftest import ROOT

from inside_torch import dressing, edition, search_index
from inside_torch.fences import fences

PAGES = sorted((ROOT / "docs").glob("*.md"))


@functools.cache
def soup(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def test_no_page_asks_another_host_for_anything(book: Path):
    loads = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "form": "action"}
    for path in book.rglob("*.html"):
        page = soup(path)
        for tag, attribute in loads.items():
            for element in page.find_all(tag, **{attribute: True}):
                assert not re.match(r"(?:https?:)?//", element[attribute]), (path.name, element)
        for style in [*page.select("style"), *page.select("[style]")]:
            assert "url(" not in str(style), path.name
    for path in book.rglob("*.css"):
        assert not re.search(r"url\(\s*[\"']?(?:https?:)?//", path.read_text(encoding="utf-8")), path.name


def test_every_page_says_what_printed_it(book: Path):
    version, commit = edition.torch_version()
    for path in book.rglob("*.html"):
        stamp = soup(path).select_one(".md-copyright").get_text()
        assert f"torch {version} ({commit[:10]})" in stamp, path.name
        assert re.search(r"C?Python \d+\.\d+\.\d+", stamp)
        assert re.search(r"book [0-9a-f]{10} of \d{4}-\d\d-\d\d \d\d:\d\d UTC", stamp), (
            "the tests run in a git checkout"
        )


def test_what_the_copy_button_takes_is_the_block(book: Path):
    for path in PAGES:
        found, _ = fences(path.read_text(), path.name)
        sources = [fence.program.rstrip() for fence in found if fence.info in ("python", "quiz")]
        blocks = soup(book / f"{path.stem}.html").select(".it-block .highlight code")
        assert [block.get_text().rstrip() for block in blocks] == sources, path.name


def test_what_stands_under_a_block_is_what_it_prints(book: Path):
    from inside_torch.blocks import MODULES, judge, turn
    from inside_torch.runner import Runner

    runner = Runner()
    try:
        for path in PAGES:
            for block in soup(book / f"{path.stem}.html").select(".it-block:has(> .highlight)")[:3]:
                source = block.select_one("code").get_text()
                printed = judge(runner.run(source, modules=MODULES[turn(source)]))
                assert not printed.failed
                shown = block.select_one(".it-output samp")
                assert (shown.get_text() if shown else "") == printed.output.rstrip("\n")
    finally:
        runner.close()


def test_every_figure_has_a_title_a_description_and_its_data(book: Path):
    figures = [figure for path in book.rglob("*.html") for figure in soup(path).select(".it-figure")]
    assert figures
    for figure in figures:
        drawing = figure.select_one("svg")
        named = [figure.select_one(f"#{name}").get_text() for name in drawing["aria-labelledby"].split()]
        assert all(named) and drawing["role"] == "img"
        caption = figure.select_one("figcaption")
        assert caption.find(string=True).strip() == drawing.select_one("title").get_text()
        assert [link["href"] for link in caption.select("a")] == [f"#{figure.parent['id']}"]
        assert len(figure.select("tbody tr")) > 0


def test_each_chapter_can_be_found_by_its_words(book: Path):
    index = json.loads((book / "search" / "search_index.json").read_text())
    found = {doc["location"].partition("#")[0]: "" for doc in index["docs"]}
    for doc in index["docs"]:
        found[doc["location"].partition("#")[0]] += html.unescape(doc["title"] + doc["text"]).lower()
    assert "as_strided" in found["tensor.html"] and "contiguous" in found["tensor.html"]
    assert "intrusive_ptr" in found["tensor-types.html"] and "copy-on-write" in found["tensor-types.html"]
    assert "strides" in found["tour.html"]
    assert "copied!" not in found["tour.html"]


def test_every_block_and_figure_has_a_place_of_its_own(book: Path):
    for path in book.rglob("*.html"):
        page = soup(path)
        names = [element["id"] for element in page.select("[id]")]
        assert len(names) == len(set(names)), path.name
        for block in page.select(".it-block"):
            assert block.select_one(f'.it-link[href="#{block["id"]}"]'), (path.name, block["id"])
        for code in page.select(".highlight"):
            assert len(code.select(".it-copy")) == 1


def test_every_page_says_how_long_it_takes_and_can_be_taken_along(book: Path):
    version = edition.torch_version()[0].partition("+")[0]
    for path in [*PAGES, ROOT / "docs" / "tour.py"]:
        about = soup(book / f"{path.stem}.html").select_one("h1 + .it-about")
        assert re.match(rf"\d+ minutes? · torch {re.escape(version)} · ", about.get_text())
        links = {link["href"] for link in about.select("a")}
        assert links == {f"inside-{path.stem}.ipynb", f"inside-{path.stem}.py", f"{path.stem}.md"}
        assert all((book / link).stat().st_size for link in links)


def test_a_term_is_indexed_where_it_is_defined(book: Path):
    docs = json.loads((book / "search" / "search_index.json").read_text())["docs"]
    defined = [(page.stem, term) for page in PAGES for term in search_index.DEFINED.findall(page.read_text())]
    assert len(defined) > 20
    for name, term in defined:
        assert any(term in doc.get("terms", "") for doc, _ in search_index.sections_of(name, docs)), (name, term)
    docs = [
        {"location": "p.html", "text": "<p>Leaf leaf.</p>"},
        {"location": "p.html#a", "text": "<p>A <b>leaf</b></p>"},
    ]
    assert [doc.get("terms") for doc in search_index.with_terms({"docs": docs}, {"p": "A *leaf*"})["docs"]] == [
        None,
        "leaf",
    ]


def test_code_has_an_element_for_what_has_a_colour_only():
    shown = dressing.dressed(
        '<h1>P</h1><pre><span></span><code><span class="k">if</span><span class="w"> </span>'
        '<span class="n">x</span><span class="p">:</span></code></pre>',
        "p",
    )
    assert '<pre><code><span class="k">if</span> x:</code></pre>' in shown


def test_a_theme_that_has_changed_is_noticed():
    page = '<html class="no-js"><head></head><div data-md-component="search" role="dialog">'
    assert "'js'</script>" in dressing.mended(page) and 'aria-label="Search"' in dressing.mended(page)
    with pytest.raises(ValueError, match="Material's <head> looks different"):
        dressing.mended(page.replace("<head>", "<head lang>"))
