"""The learning path lists every chapter with what its reader can do, as the pages say it themselves, and what a reader
ticks is kept in the browser."""

from __future__ import annotations

import json
import re
from pathlib import Path

import networkx
import pytest
from bs4 import BeautifulSoup
from conftest import BOOK, ROOT, build

from inside_torch.book import Page
from inside_torch.render import learning, prerequisites
from inside_torch.render.glossary import chapters
from inside_torch.render.prerequisites import before, exercises_of, objective, quizzes

PATH = "reference/learning-path"
CHAPTERS = chapters(BOOK.pages)


@pytest.fixture(scope="module")
def path(book: Path) -> BeautifulSoup:
    return BeautifulSoup((book / f"{PATH}.html").read_text(encoding="utf-8"), "html.parser")


def test_every_chapter_is_listed_with_all_its_items(path: BeautifulSoup):
    items = path.select(".it-item input[type=checkbox]")
    expected = sum(len(quizzes(page)) + len(exercises_of(page, BOOK.pages)) for page in CHAPTERS)
    assert len(items) == len({item["name"] for item in items}) == expected > 150
    text = " ".join(path.get_text().split())
    for page in CHAPTERS:
        assert objective(page), page.name
        assert path.select_one(f'article a[href="../{page.url}"]'), page.name
    assert "After this page you can predict which operations share memory" in text
    exercises = [page for page in BOOK.pages if page.kind == "exercise"]
    assert len(exercises) == sum(len(exercises_of(page, BOOK.pages)) for page in CHAPTERS)


def test_the_times_are_those_that_the_pages_state(path: BeautifulSoup, book: Path):
    stated = "\n".join(p.get_text() for p in path.select("p"))
    said = dict(re.findall(r"(?m)^(.+?) takes (\d+ minutes)", stated))
    assert said.keys() == {page.title for page in CHAPTERS} and len(said) == len(CHAPTERS)
    for page in CHAPTERS:
        about = BeautifulSoup((book / page.url).read_text(encoding="utf-8"), "html.parser").select_one(".it-about")
        assert about.get_text().startswith(said[page.title]), page.name
    assert not learning.MINUTES.search(str(path)) and not learning.ORDER.search(str(path))


@pytest.mark.parametrize(
    ("minutes", "said"), [(20, "20 minutes"), (74, "74 minutes"), (75, "1½ hours"), (260, "4½ hours"), (300, "5 hours")]
)
def test_a_time_is_said_as_people_say_it(minutes, said):
    assert learning.duration(minutes) == said


def pages(**texts: str) -> list[Page]:
    return [
        Page(Path(f"{name}.md"), f"{name}.md", f"docs/{name}.md", f"# {name}\n\n{text}") for name, text in texts.items()
    ]


def test_a_chapter_builds_on_an_earlier_one_that_it_links_often():
    twice, once = "[a](a.md) and [b](a.md#x)", "[a](a.md)"
    assert list(before(pages(a="", b=twice, c=once)).edges) == [("a.md", "b.md")]
    assert list(before(pages(b=twice, a="")).edges) == [], "a later page is none to read before"
    assert list(before(pages(a="", b=f"{once}\n\n## In the source\n\n{once}")).edges) == []
    assert networkx.is_directed_acyclic_graph(before(CHAPTERS))


def test_a_way_holds_what_its_chapters_need_and_nothing_else(path: BeautifulSoup):
    graph = before(CHAPTERS)
    aims = prerequisites.ORDER.findall((ROOT / "docs" / f"{PATH}.md").read_text(encoding="utf-8"))
    assert len(aims) == len(path.select(".it-figure")) == 5
    for some, figure in zip(aims, path.select(".it-figure"), strict=True):
        there = {row.select_one("td").get_text() for row in figure.select("tbody tr")}
        needed = set(some.split()).union(*(networkx.ancestors(graph, src) for src in some.split()))
        assert there == {BOOK.page(src).title for src in needed}


def test_an_item_whose_quiz_is_gone_stops_the_build():
    asks = '<!-- minutes x.md --><li class="task-list-item"><input type="checkbox" disabled/> <!-- item 0 -->?</li>'
    with pytest.raises(KeyError):
        learning.filled({"x.md": asks}, build())


def test_what_is_ticked_stays_and_an_answered_quiz_ticks_itself(chromium, address: str):
    context = chromium.new_context(viewport={"width": 360, "height": 800})
    page, asked = context.new_page(), []
    page.goto(f"{address}/tensor.html")
    name, value = page.evaluate(
        """() => { const quiz = document.querySelector('.it-quiz'), reasons = [...quiz.querySelectorAll('details li')]
        const input = quiz.querySelectorAll('input')[reasons.findIndex(one => one.className === 'it-right')]
        input.click(); return [input.name, input.value] }"""
    )
    context.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/{PATH}.html")
    answered = page.locator(f".it-item input[name='{name}']")
    assert answered.is_checked() and answered.get_attribute("value") == value
    said = page.locator(".it-progress output")
    assert re.fullmatch(r"1 of \d+ done", said.inner_text())
    fold = page.locator("details", has=answered)
    assert fold.locator("summary").get_attribute("data-done") == "1" and not answered.is_visible()
    fold.locator("summary").click()
    fold.locator(".it-item label", has_text="Exercise").locator("input").check()
    assert fold.locator("summary").get_attribute("data-done") == "2"
    page.reload()
    assert said.inner_text().startswith("2 of ") and page.locator(".it-item input:checked").count() == 2
    fold.locator("summary").click()
    answered.uncheck()
    page.reload()
    assert said.inner_text().startswith("1 of ") and not answered.is_checked()
    kept = page.evaluate("JSON.parse(localStorage['inside-pytorch-quizzes'])")
    assert all(re.fullmatch(r"[0-9a-f]{12}", word) for pair in kept.items() for word in pair), json.dumps(kept)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert all(url.startswith(address) for url in asked)
    context.close()
