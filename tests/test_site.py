"""The real book, built: what a reader's browser gets."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from bs4 import BeautifulSoup
from conftest import ROOT

from inside_torch import edition
from inside_torch.fences import fences

PAGES = sorted((ROOT / "docs").glob("*.md"))


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
    from inside_torch.blocks import judge
    from inside_torch.runner import Runner

    runner = Runner()
    try:
        for path in PAGES:
            for block in soup(book / f"{path.stem}.html").select(".it-block:has(> .highlight)")[:3]:
                printed = judge(runner.run(block.select_one("code").get_text()))
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
        assert figure.select_one("figcaption").get_text() == drawing.select_one("title").get_text()
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
