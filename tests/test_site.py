"""The real book, built: what a reader's browser gets."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from conftest import BOOK, ROOT, Site, built_pages, fence

from inside_torch.book import Page
from inside_torch.edition import Edition
from inside_torch.render import page as dressing
from inside_torch.render import search
from inside_torch.render.about import Imprint, minutes
from inside_torch.take.files import file_names

PAGES = [page for page in BOOK.pages if page.kind != "notebook"]


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
    edition = Edition()
    for path in [book / "404.html", *(book / page.url for page in BOOK.pages)]:
        stamp = soup(path).select_one(".md-copyright").get_text()
        assert f"torch {edition.version} ({edition.commit[:10]})" in stamp, path.name
        assert re.search(r"C?Python \d+\.\d+\.\d+", stamp)
        assert re.search(r"book [0-9a-f]{10} of \d{4}-\d\d-\d\d \d\d:\d\d UTC", stamp), (
            "the tests run in a git checkout"
        )


def test_what_the_copy_button_takes_is_the_block(book: Path):
    for page in PAGES:
        blocks = soup(book / page.url).select(".it-block:has(.highlight)")
        taken = ["".join(code.get_text() for code in block.select(".highlight code")) for block in blocks]
        assert [text.removesuffix("\n") for text in taken] == [one.program for one in page.programs], page.name


def test_what_stands_under_a_block_is_what_it_prints(book: Path):
    from inside_torch.run.blocks import judge
    from inside_torch.run.runner import Runner

    runner = Runner(Edition())
    try:
        for page in PAGES:
            for block in soup(book / page.url).select(".it-block:has(> .highlight)")[:3]:
                source = "".join(code.get_text() for code in block.select(".highlight code"))
                printed = judge(runner.run(source, full=True))
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
        assert all(named) and drawing["role"] == ("group" if drawing.select("[tabindex], a") else "img")
        caption = figure.select_one("figcaption")
        assert caption.find(string=True).strip() == drawing.select_one("title").get_text()
        assert [link["href"] for link in caption.select("a")] == [
            f"#{(figure.find_parent(class_='it-block') or figure.parent)['id']}"
        ]
        assert len(figure.select("tbody tr")) > 0


def test_every_block_and_figure_has_a_place_of_its_own(book: Path):
    for path in book.rglob("*.html"):
        page = soup(path)
        names = [element["id"] for element in page.select("[id]")]
        assert len(names) == len(set(names)), path.name
        for block in page.select(".it-block"):
            assert block.select_one(f'.it-link[href="#{block["id"]}"]'), (path.name, block["id"])
        for code in page.select(".highlight:not(.it-fold .highlight)"):
            box = code.parent if "it-source" in code.parent.get("class", []) else code
            assert len(box.select(".it-copy")) == 1


def test_what_is_folded_takes_no_time():
    words = "<p>" + "word " * 1000 + "</p>"
    assert minutes(words) == minutes(f"{words}<details>{words}<details>{words}</details>{words}</details>")
    assert minutes(words) < minutes(words + words)


def test_no_chapter_takes_over_25_minutes(book: Path):
    takes = {
        page.src: soup(book / page.url).select_one("h1 + .it-about") for page in BOOK.pages if page.kind == "chapter"
    }
    takes = {src: int(about.get_text().split()[0]) for src, about in takes.items()}
    assert {src: took for src, took in takes.items() if took > 25} == {}


def test_every_page_says_how_long_it_takes_and_can_be_taken_along(book: Path):
    for page in BOOK.pages:
        built = book / page.url
        about = soup(built).select_one("h1 + .it-about")
        asked = sum(fence.info == "quiz" for fence in page.fences)
        quizzes = f" and {asked} quiz{'zes' * (asked > 1)}" * bool(asked)
        read = " to read" * (page.kind == "exercise")
        assert re.match(rf"\d+ minutes?{read}{quizzes} · torch {re.escape(Edition().release)} · ", about.get_text())
        links = {built.parent / link["href"] for link in about.select("a")}
        forms = {book / file for file in file_names(page.stem).values()}
        folder, name = built.parent, built.stem
        exercise = {folder / f"{name}.zip", folder / f"do-{name}.ipynb"} if page.kind == "exercise" else set()
        ladder = {folder / "ladder.zip"} if page.stem == "ladder/index" else set()
        assert links == forms | exercise | ladder
        assert all(link.stat().st_size for link in links)


def test_code_has_an_element_for_what_has_a_colour_only():
    shown = dressing.dressed(
        '<h1>P</h1><pre><span></span><code><span class="k">if</span><span class="w"> </span>'
        '<span class="n">x</span><span class="p">:</span></code></pre>',
        Page(ROOT, "p.md", "docs/p.md", ""),
        Imprint(BOOK, Edition()),
    )
    assert '<pre><code><span class="k">if</span> x:</code></pre>' in shown


def test_a_theme_that_has_changed_is_noticed():
    page = '<html class="no-js"><head></head>'
    assert "className = 'js" in dressing.mended(page)
    with pytest.raises(ValueError, match="Material's <head> looks different"):
        dressing.mended(page.replace("<head>", "<head lang>"))
    rule = "[data-md-color-switching] *,[data-md-color-switching] :after{transition-duration:0s!important}"
    assert dressing.without_slow("palette", f"a{{}}{rule}b{{}}") == "a{}b{}"
    for name in ("palette", "bundle"):
        with pytest.raises(ValueError, match=f"Material's {name} looks different"):
            dressing.without_slow(name, "a{}b{}")


def test_nothing_of_the_theme_styles_or_measures_the_whole_page_again(book: Path):
    files = {file.name.split(".")[0]: file.read_text() for file in (book / "assets").glob("*/*.min.*s")}
    assert "color-switching" not in files["palette"] and files["main"]
    assert 'color-scheme"});document' not in files["bundle"] and "mermaid) > code" not in files["bundle"]
    page = (book / "tensor.html").read_text()
    assert page.count("<table") == page.count('<div class="md-typeset__table"><table>') > 0, "the build boxes tables"


def test_an_address_that_is_no_page_leads_to_pages(book: Path):
    links = [link["href"].removeprefix("/") for link in soup(book / "404.html").select("article a")]
    assert len(links) >= 4
    assert set(links) <= {page.url for page in BOOK.pages}


def test_old_addresses_lead_to_the_pages(book: Path):
    import yaml

    text = re.sub(r"!\S+", "", (ROOT / "mkdocs.yml").read_text())
    moved = yaml.safe_load(text)["extra"]["moved"]
    assert len(moved) > 10
    for old, new in moved.items():
        assert f'content="0; url={new}"' in (book / old).read_text() and (book / new).exists()


SUBFOLDER = f"""# Ropes

A rope is a *strand* twisted.

{fence("print('first')")}
```python title="examples/strided_tensor.py"
--8<-- "examples/strided_tensor.py"
```
"""


def test_a_page_in_a_subfolder_is_a_page_like_any_other(site: Site):
    """It is found in search, downloads, approvals and plain runs, in the gallery and in llms.txt."""
    from inside_torch.book import Book
    from inside_torch.render import tables

    (site.folder / "examples").symlink_to(ROOT / "examples")
    site.write(index="# Home\n\nSee [ropes](tensors/ropes.md).\n\n<!-- gallery -->\n", **{"tensors/ropes": SUBFOLDER})
    built = site.build()
    assert built.returncode == 0, built.stdout
    folder = site.folder / "site"
    assert [one["location"] for one in search.read(folder) if "strand" in one["terms"]] == ["tensors/ropes.html"]
    about = soup(folder / "tensors" / "ropes.html").select_one(".it-about")
    assert all((folder / "tensors" / link["href"]).stat().st_size for link in about.select("a"))
    book = Book.read(site.folder, tables.expand)
    assert [shown.output for shown in built_pages(folder, book)["tensors/ropes.md"]] == ["first"]
    assert [block.program for block in book.page("tensors/ropes.md").programs] == ["print('first')"]
    assert 'href="tensors/ropes.html">Ropes</a>' in site.html()
    assert "](tensors/ropes.md): " in (folder / "llms.txt").read_text()
