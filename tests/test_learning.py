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


def chapter_of(row) -> Page:
    """The chapter that a row of the tables is about."""
    return next(page for page in CHAPTERS if page.url == row.select_one("a")["href"].removeprefix("../"))


def test_every_chapter_has_a_row_with_what_it_says_itself(path: BeautifulSoup):
    rows = path.select(".it-plan tbody tr")
    assert [chapter_of(row).src for row in rows] == [page.src for page in CHAPTERS]
    graph = before(CHAPTERS)
    for row in rows:
        page, cells = chapter_of(row), row.select("td")
        assert objective(page), page.name
        said = re.sub(r"[`*]|\]\([^)]*\)|\[(?=\w)", "", objective(page))
        assert re.sub(r"\W", "", f"After this page you can {cells[2].get_text()}") == re.sub(r"\W", "", said), page.name
        first = {one.title for one in CHAPTERS if graph.has_edge(one.src, page.src)}
        assert {link.get_text() for link in cells[3].select("a")} == first
    assert "predict which operations share memory" in rows[0].get_text()
    assert "After this page" not in path.article.get_text()


def test_every_item_leads_to_its_place(path: BeautifulSoup, book: Path):
    items = path.select(".it-item input[type=checkbox]")
    expected = sum(len(quizzes(page)) + len(exercises_of(page, BOOK.pages)) for page in CHAPTERS)
    assert len(items) == len({item["name"] for item in items}) == expected > 150
    exercises = [page for page in BOOK.pages if page.kind == "exercise"]
    assert len(exercises) == sum(len(exercises_of(page, BOOK.pages)) for page in CHAPTERS)
    for row in path.select(".it-plan tbody tr"):
        page, links = chapter_of(row), row.select(".it-item a")
        shown = BeautifulSoup((book / page.url).read_text(encoding="utf-8"), "html.parser")
        assert row.select_one("summary").get_text().startswith(f"0 of {len(links)} ")
        for link in links[: len(quizzes(page))]:
            url, _, name = link["href"].partition("#")
            assert url == f"../{page.url}"
            assert shown.find(id=name).select_one("legend").get_text() == link.get_text()
        told = {f"Exercise: {one.title}": f"../{one.url}" for one in exercises_of(page, BOOK.pages)}
        assert {link.get_text(): link["href"] for link in links[len(quizzes(page)) :]} == told


def test_the_times_are_those_that_the_pages_state(path: BeautifulSoup, book: Path):
    takes = {}
    for row in path.select(".it-plan tbody tr"):
        page = chapter_of(row)
        about = BeautifulSoup((book / page.url).read_text(encoding="utf-8"), "html.parser").select_one(".it-about")
        takes[page.src] = int(re.match(r"\d+", about.get_text())[0])
        assert row.select("td")[1].get_text() == f"{takes[page.src]} min"
    said = " ".join(path.article.get_text().split())
    groups = [table.find_previous_sibling("p").get_text() for table in path.select(".it-plan")]
    parts = [int(re.fullmatch(r"Together (\d+) minutes\.", group)[1]) for group in groups]
    assert sum(parts) == sum(takes.values()), "only the whole is rounded"
    assert f"{len(CHAPTERS)} chapters and takes {learning.duration(sum(takes.values()))}" in said
    for there, figure in zip(ways(), path.select(".it-figure"), strict=True):
        time = learning.duration(sum(takes[page.src] for page in there))
        items = sum(len(learning.items_of(page, BOOK.pages)) for page in there)
        assert figure.select_one("figcaption strong").get_text() == f"{len(there)} chapters, {time} to read"
        rows = {row.select_one("td").get_text(): row.select("td")[1].get_text() for row in figure.select("tbody tr")}
        assert rows == {page.title: str(takes[page.src]) for page in there}
        assert f"0 of {items} quizzes and exercises" in figure.select_one("figcaption").get_text()
    sums = [sum(takes[page.src] for page in there) for there in ways()]
    assert learning.duration(max(sums)) in said.partition("a way takes ")[2][:20]
    for marker in (learning.TIME, learning.ITEMS, prerequisites.ORDER, prerequisites.SAID):
        assert not marker.search(str(path)), marker


@pytest.mark.parametrize(
    ("minutes", "said"),
    [(20, "20 minutes"), (75, "75 minutes"), (89, "89 minutes"), (90, "1½ hours"), (260, "4½ hours"), (300, "5 hours")],
)
def test_a_time_is_said_as_people_say_it(minutes, said):
    assert learning.duration(minutes) == said


@pytest.mark.parametrize(
    ("asks", "said"),
    [
        ("<!-- minutes a b -->", "2½ hours"),
        ("<!-- min b -->", "30 min"),
        ("<!-- total a b -->", "150 minutes"),
        ("<!-- between a ; b ; a b -->", "30 minutes to 2½ hours"),
        ("<!-- between a ; a b -->", "2 to 2½ hours"),
        ("<!-- between a ; a -->", "2 hours"),
        ("<!-- pace -->", "150 words or 25 lines of code"),
    ],
)
def test_times_stand_where_they_are_asked_for(asks, said):
    assert learning.timed(f"It takes {asks}.", {"a": 120, "b": 30}) == f"It takes {said}."


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


def ways() -> list[list[Page]]:
    """The chapters of each way."""
    source = (ROOT / "docs" / f"{PATH}.md").read_text(encoding="utf-8")
    return [prerequisites.way(aims.split(), BOOK.pages) for aims in prerequisites.ORDER.findall(source)]


def test_a_way_holds_what_its_chapters_need_and_nothing_else(path: BeautifulSoup):
    graph = before(CHAPTERS)
    aims = prerequisites.ORDER.findall((ROOT / "docs" / f"{PATH}.md").read_text(encoding="utf-8"))
    assert len(aims) == len(path.select(".it-figure")) and 7 <= len(aims) <= 9
    for some, figure in zip(aims, path.select(".it-figure"), strict=True):
        there = {row.select_one("td").get_text() for row in figure.select("tbody tr")}
        needed = set(some.split()).union(*(networkx.ancestors(graph, src) for src in some.split()))
        assert there == {BOOK.page(src).title for src in needed}
        urls = sorted(f"../{BOOK.page(src).url}" for src in needed)
        assert sorted(link["href"] for link in figure.select("td:first-child a")) == urls
        for drawing in figure.select("svg"):  # the one for a phone, too, which may stand in the other
            boxes = [link for link in drawing.select("a") if link.find_parent("svg") is drawing]
            assert sorted(link["href"] for link in boxes) == urls and all(link.get_text() for link in boxes)


def test_every_chapter_is_in_a_way_or_said_to_be_in_none(path: BeautifulSoup):
    text = {name: one for one in path.select("article p") for name in ("in every way", "in none") if name in one.text}
    shared = set.intersection(*({page.url for page in there} for there in ways()))
    assert shared and {link["href"] for link in text["in every way"].select("a")} == {f"../{url}" for url in shared}
    alone = {page.url for page in CHAPTERS}.difference(*({page.url for page in there} for there in ways()))
    assert {link["href"] for link in text["in none"].select("a")} == {f"../{url}" for url in alone}
    for drawing in path.select(".it-figure svg"):
        boxes = [link for link in drawing.select("a") if link.find_parent("svg") is drawing]
        filled = {link["href"] for link in boxes if link.select_one(".it-shared")}
        assert filled == {f"../{url}" for url in shared}


def test_the_example_of_how_to_read_a_picture_is_in_the_first(path: BeautifulSoup):
    said, graph = path.select_one("#ways-in").find_next_sibling("p").get_text(), before(CHAPTERS)
    goals = prerequisites.ORDER.findall((ROOT / "docs" / f"{PATH}.md").read_text(encoding="utf-8"))[0].split()
    for goal, told in (("optimizer.md", "no other chapter"), ("backward.md", "Forward")):
        first = {page.title for page in CHAPTERS if page.src in networkx.ancestors(graph, goal)}
        assert goal in goals and f"{BOOK.page(goal).title} needs {told}" in said
        assert first == set(re.split(", | and ", told)) - {"no other chapter"}


def test_the_table_behind_a_way_says_all_that_its_description_does(path: BeautifulSoup):
    for figure in path.select(".it-figure"):
        assert figure.select_one("summary").get_text() == "In reading order" and not figure.select("details p")
        told = figure.desc.get_text()
        for name, _, needs in ([cell.get_text() for cell in row.select("td")] for row in figure.select("tbody tr")):
            assert f"{name} needs {needs or 'no other'}." in told


def test_what_counts_as_done_is_said_once_and_true(path: BeautifulSoup):
    said = path.article.get_text(" ")
    assert said.count("is done when") == 2 and "is done when" in path.select_one(".it-progress").get_text()
    todo = sum(len(quizzes(page)) for page in CHAPTERS), len([page for page in BOOK.pages if page.kind == "exercise"])
    assert f"{todo[0]} quizzes and {todo[1]} exercises" in said
    assert all(learning.items_of(page, BOOK.pages) for page in CHAPTERS), "a chapter without items would be done unread"


def test_what_ways_share_and_leave_out_follows_from_them():
    text = (
        "x\n\n<!-- way b.md -->\n\n<!-- way c.md -->\n\nAll: <!-- shared -->. None: <!-- elsewhere -->. <!-- whole -->"
    )
    some = pages(a="", b="[a](a.md) [a](a.md)", c="[a](a.md) [a](a.md)", d="", page=text)
    made = prerequisites.expanded(some[-1], some[:-1])
    assert "All: [a](a.md) (<!-- minutes a.md -->). None: [d](d.md)." in made
    assert "4 chapters and takes <!-- minutes a.md b.md c.md d.md -->" in made


def test_a_way_fits_on_a_phone():
    sizes, edges = [(100, 20)] * 7, [(0, i) for i in range(1, 7)]
    places, _, width, _ = learning._placed(sizes, edges, 10, 360)
    assert width <= 360 < learning.layered(sizes, edges, learning.LEVELS, 10)[2]
    assert all(places[0][1] < places[i][1] for i in range(1, 7)), "arrows lead down"
    takes = dict.fromkeys((page.src for page in CHAPTERS), 1)
    aims = prerequisites.ORDER.findall((ROOT / "docs" / f"{PATH}.md").read_text(encoding="utf-8"))
    for some in aims:
        drawing = BeautifulSoup(learning.drawn(some.split(), BOOK.pages, takes), "html.parser").svg
        assert int(drawing["width"]) <= 688 and int(drawing.select_one(".it-narrow")["width"]) <= 370, some


def test_who_takes_the_page_along_gets_times_and_lists(book: Path):
    text = (book / f"{PATH}.md").read_text(encoding="utf-8")
    assert "<!--" not in text and "58 chapters" not in text.partition("| chapter")[2]
    for there in ways():
        titles = ", ".join(rf"\[{re.escape(page.title)}\]\(\S+\)" for page in there)
        assert re.search(rf"{len(there)} chapters, [\d½]+ (?:hours|minutes): {titles}\.", text)


def test_an_item_whose_quiz_is_gone_stops_the_build():
    asks = "<!-- min x.md --><table><td><!-- items gone.md --></td></table>"
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
    said, whole = page.locator(".it-progress output"), page.locator(".it-progress [data-unit=chapter]")
    assert re.fullmatch(r"1 of \d+ quizzes and exercises", said.inner_text()) and whole.inner_text().strip() == "0 of"
    fold = page.locator(".it-questions", has=answered)
    assert fold.locator(".it-count").inner_text().strip() == "1 of" and not answered.is_visible()
    counts = page.locator("figcaption .it-count").all_inner_texts()
    assert [count.strip() for count in counts] == [
        "1 of" if "tensor" in [one.stem for one in there] else "0 of" for there in ways()
    ]
    fold.locator("summary").click()
    assert fold.locator("ul").bounding_box()["width"] > 300, "the items have the whole row"
    fold.locator(".it-item label", has_text="Exercise").locator("input").check()
    assert fold.locator(".it-count").inner_text().strip() == "2 of"
    page.reload()
    assert said.inner_text().startswith("2 of ") and page.locator(".it-item input:checked").count() == 2
    fold.locator("summary").click()
    for box in fold.locator("input").all():
        box.check()
    assert whole.inner_text().strip() == "1 of"
    for box in fold.locator("input").all()[1:]:
        box.uncheck()
    assert whole.inner_text().strip() == "0 of"
    answered.check()
    fold.locator("a").first.click()
    page.wait_for_url(re.compile(r"/tensor\.html#b-\w+$"))
    page.go_back()
    fold.locator("summary").click()
    answered.uncheck()
    page.reload()
    assert not answered.is_checked()
    kept = page.evaluate("JSON.parse(localStorage['inside-pytorch-quizzes'])")
    assert all(re.fullmatch(r"[0-9a-f]{12}", word) for pair in kept.items() for word in pair), json.dumps(kept)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert all(url.startswith(address) for url in asked)
    context.close()


@pytest.mark.parametrize("width", [360, 1280])
def test_the_progress_stands_above_the_ways(chromium, address: str, width: int):
    page = chromium.new_page(viewport={"width": width, "height": 900})
    page.goto(f"{address}/{PATH}.html")
    panel, ways = page.locator(".it-progress"), page.locator("#ways-in")
    assert panel.count() == 1 and panel.bounding_box()["y"] < ways.bounding_box()["y"]
    assert page.evaluate("document.documentElement.scrollWidth") == width
    is_cut = "cell => cell.clientWidth && cell.scrollWidth > cell.clientWidth + 1"
    cut = f"row => [...row.querySelectorAll('td')].some({is_cut})"
    assert not any(row.evaluate(cut) for row in page.locator(".it-plan tr").all())
    page.close()


def test_without_a_script_no_count_is_shown(chromium, address: str):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/{PATH}.html")
    assert page.locator(".it-count:visible, .it-item input:visible, .it-progress:visible").count() == 0
    fold = page.locator(".it-questions").first
    assert fold.locator("summary").inner_text().startswith("5")
    fold.locator("summary").click()
    assert fold.locator("a:visible").count() == 5
    context.close()
