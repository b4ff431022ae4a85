"""The ten lines: one table for the home page and the strips, with numbers that a run of these very lines gave."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from conftest import BOOK, ROOT, Site, build

from inside_torch.render import ten_lines
from inside_torch.render.ten_lines import BELOW, LINES

CHAPTERS = [page.stem for page in BOOK.pages if page.kind == "chapter"]


def without_line(chapters: list[str]) -> list[str]:
    """The chapters that belong to no line or layer, or to more than one."""
    places = [stem for line in (*LINES, BELOW) for stem in line.chapters]
    return [stem for stem in chapters if places.count(stem) != 1]


def test_every_chapter_belongs_to_one_line_or_to_the_layer_below():
    assert without_line(CHAPTERS) == []
    assert without_line(["tensor", "a-new-chapter"]) == ["a-new-chapter"]
    assert {stem for line in (*LINES, BELOW) for stem in line.chapters} <= set(CHAPTERS)


def test_the_table_is_that_of_ten_lines_and_notices_others(tmp_path: Path):
    assert len(ten_lines.program(ROOT)[1]) == 10
    (tmp_path / "examples").mkdir()
    text = (ROOT / "examples" / "network.py").read_text()
    for changed in (
        text.replace("    loss.backward()\n", "", 1),
        text.replace("compiled = torch.compile", "fast = torch.jit"),
    ):
        (tmp_path / "examples" / "network.py").write_text(changed)
        with pytest.raises(ValueError, match="other lines than"):
            ten_lines.program(tmp_path)


def test_the_numbers_are_those_of_the_lines_that_ran(tmp_path: Path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    network = tmp_path / "examples" / "network.py"
    network.write_text(network.read_text().replace("(3, 4)", "(3, 5)").replace("(4, 2)", "(5, 2)"))
    said = [
        ten_lines.plain(build().blocks.result(ten_lines.measuring(root)).output).split("\n")
        for root in (ROOT, tmp_path)
    ]
    assert said[0][2].startswith("26 numbers to learn, in 4 Parameters:")
    assert said[1][2].startswith("32 numbers to learn, in 4 Parameters:")
    assert said[0][0] == said[1][0] and said[0][9] != said[1][9]


def test_the_home_page_shows_each_line_with_its_chapters_and_copies_as_a_program(book: Path):
    hero = BeautifulSoup((book / "index.html").read_text(encoding="utf-8"), "html.parser").select_one(".it-ten")
    copied = "".join(code.get_text() for code in hero.select("code"))
    assert copied.rstrip("\n") == ten_lines.whole(ROOT)
    for line, row in zip(LINES, hero.select("li"), strict=True):
        assert [link["href"] for link in row.select("a")] == [f"{stem}.html" for stem in line.chapters]
        assert all((book / link["href"]).exists() for link in row.select("a")) and row.select("a")


def test_the_program_that_reads_the_numbers_can_be_taken_along(book: Path):
    page = BeautifulSoup((book / "index.html").read_text(encoding="utf-8"), "html.parser")
    assert page.select_one(f'a[download][href="{ten_lines.MEASURES}"]')
    assert (book / ten_lines.MEASURES).read_text(encoding="utf-8").rstrip("\n") == ten_lines.measuring(ROOT)


def test_the_strip_stands_on_every_chapter_with_its_line_marked(book: Path):
    for page in BOOK.pages:
        strips = BeautifulSoup((book / page.url).read_text(encoding="utf-8"), "html.parser").select(".it-strip")
        assert len(strips) == (page.kind == "chapter"), page.name
        for strip in strips:
            links = strip.select("a")
            assert [link.get_text() for link in links] == [line.word for line in (*LINES, BELOW)]
            assert all((book / link["href"]).exists() for link in links)
            (marked,) = strip.select("[aria-current]")
            line = (*LINES, BELOW)[links.index(marked)]
            assert page.stem in line.chapters


def test_a_line_that_fails_stops_the_build_and_names_the_page(site: Site):
    site.write(index=f"# H\n\n{ten_lines.HERO}\n")
    (site.folder / "examples").mkdir()
    text = (ROOT / "examples" / "network.py").read_text()
    (site.folder / "examples" / "network.py").write_text(text.replace("lr=0.01", "lr=-1"))
    built = site.build()
    assert built.returncode and "docs/index.md:3: it ended with status 1: ValueError" in built.stdout
