"""Quizzes: the right answer is the program's output, a careless quiz stops the build, a reader can answer it."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from conftest import BOOK, ROOT, Site, fence
from test_figures import contrast

from inside_torch.fences import parse as parse_page
from inside_torch.quiz import objection, parse

QUIZ = """\
question: What is `6 * 7`?
section: Where it is explained
because: `*` makes six sevens of it.
--- program
print(6 * 7)
--- wrong
67
because: This puts the digits side by side.
--- wrong
13
because: This takes `*` for `+`.
"""
HEADING = "# P\n\n## Where it is explained\n\n"
MANY = "".join(f"--- wrong\n{n}\nbecause: no\n" for n in range(3))
# What is done to the quiz above -> the line of the quiz and what the build says of it.
CARELESS = {
    "no question": (QUIZ.replace("question: What is `6 * 7`?", ""), 0, "this quiz has no `question:`"),
    "no section": (QUIZ.replace("section: Where it is explained\n", ""), 0, "this quiz has no `section:`"),
    "right without a reason": (QUIZ.replace("because: `*` makes", "`*` makes"), 0, "this quiz has no `because:`"),
    "unknown key": (QUIZ.replace("section:", "sektion:"), 2, "a quiz begins with question, section, because"),
    "key twice": (QUIZ.replace("section:", "question:"), 2, "once each, not with `question: Where"),
    "unknown part": (QUIZ.replace("--- program", "--- code"), 4, "no part named `code`"),
    "no program": (QUIZ.replace("print(6 * 7)", ""), 0, "a quiz has one `--- program`"),
    "two programs": (QUIZ + "--- program\nprint(1)\n", 0, "a quiz has one `--- program`"),
    "no reason": (QUIZ.replace("because: This takes `*` for `+`.\n", ""), 9, "no `because:`, the mistaken idea"),
    "empty reason": (QUIZ.replace(" This takes `*` for `+`.", ""), 9, "no `because:`, the mistaken idea"),
    "no answer": (QUIZ.replace("67\n", ""), 6, "this wrong answer is empty"),
    "one wrong": (QUIZ[: QUIZ.rindex("--- wrong")], 0, "2 to 4 wrong answers, and this one 1"),
    "five wrong": (QUIZ + MANY, 0, "2 to 4 wrong answers, and this one 5"),
    "equal": (QUIZ.replace("67", "13"), 0, "the wrong answers 1 and 2 are equal"),
    "blanks": (QUIZ.replace("67", " 13  "), 0, "the wrong answers 1 and 2 are equal"),
}
# What only the run can tell -> what the build says of it.
REFUTED = {
    QUIZ.replace("67", "42"): "wrong answer 1 is what the program prints",
    QUIZ.replace("print(6 * 7)", "x = 6 * 7"): "the program prints nothing",
    QUIZ.replace("Where it is explained", "Elsewhere"): "there is no section `Elsewhere`",
    QUIZ.replace("Where it is explained", "none.md#Where it is explained"): "there is no section `none.md#Where",
    QUIZ.replace("print(6 * 7)", "print(6)\n1 / 0"): "ZeroDivisionError: division by zero",
    QUIZ.replace("print(6 * 7)", "import sys\nsys.stderr.write('!')"): "wrote to stderr: !",
}


def as_fence(source: str) -> str:
    return fence(source.rstrip("\n"), "quiz")


def soup(page: str) -> BeautifulSoup:
    return BeautifulSoup(page, "html.parser")


@pytest.mark.parametrize("careless", CARELESS)
def test_a_careless_quiz_is_named_with_its_line(careless):
    source, line, said = CARELESS[careless]
    _, problems = parse_page("# P\n\n" + as_fence(source))
    assert any(problem.line == 3 + line and said in problem.text for problem in problems)


def opened(text: str) -> list[int]:
    """The lines on which quizzes open."""
    return [number for number, line in enumerate(text.split("\n"), 1) if line == "```quiz"]


def test_what_the_run_refutes_is_named_and_a_failing_line_is_that_of_the_page(site: Site):
    text = HEADING + "\n".join(as_fence(source) for source in REFUTED)
    built = site.write(index=text).build()
    assert built.returncode == 1 and f"{len(REFUTED)} failures: nothing was built" in built.stdout
    for line, said in zip(opened(text), REFUTED.values()):
        assert re.search(rf"docs/index\.md:{line}: .*{re.escape(said)}", built.stdout), (line, said, built.stdout)
    inside = text.split("\n").index("1 / 0") + 1
    assert f'File "docs/index.md", line {inside}, in <module>' in built.stdout
    assert site.cached() == 2, "the two that only lack a section"


def test_careless_quizzes_end_the_build_and_are_all_listed(site: Site):
    text = HEADING + "\n".join(as_fence(source) for source, _, _ in CARELESS.values())
    built = site.write(index=text).build()
    assert built.returncode == 1
    for begun, (_, line, said) in zip(opened(text), CARELESS.values()):
        assert re.search(rf"docs/index\.md:{begun + line}: .*{re.escape(said)}", built.stdout), (begun, said)


HOSTILE = "</script><img src=x onerror=alert(1)></samp></label>"


def test_a_quiz_reads_without_a_script_and_hostile_answers_are_text(site: Site):
    hostile = (
        QUIZ.replace("67", HOSTILE)
        .replace("side by side", HOSTILE)
        .replace("sevens", HOSTILE)
        .replace("What", "What </legend> <b>")
    )
    printed = hostile.replace("print(6 * 7)", "print('<script>alert(1)</script>')")
    built = site.write(index=HEADING + as_fence(printed)).build()
    assert built.returncode == 0, built.stdout
    (quiz,) = soup(site.html()).select(".it-quiz")
    assert quiz.select("script, img, b") == []
    assert quiz.select_one("legend").get_text() == "What </legend> <b> is 6 * 7?"
    assert quiz.select_one(".highlight code").get_text() == "print('<script>alert(1)</script>')\n"
    options = [option.get_text() for option in quiz.select(".it-options samp")]
    assert sorted(options) == sorted([HOSTILE, "13", "<script>alert(1)</script>"])
    opened = quiz.select_one("details")
    assert opened.summary.get_text() == "Predict, then open"
    assert opened.select_one(".it-output samp").get_text() == "<script>alert(1)</script>"
    (link,) = opened.select("a")
    assert (link["href"], link.get_text()) == ("#where-it-is-explained", "Where it is explained")
    reasons = dict(zip(options, (reason.get_text() for reason in opened.select("li"))))
    assert reasons["13"] == "Wrong. This takes * for +."
    assert reasons["<script>alert(1)</script>"] == f"Right. * makes six {HOSTILE} of it."


def test_an_answer_goes_by_its_text_and_not_by_where_it_stands(site: Site):
    first, second = QUIZ.index("--- wrong"), QUIZ.rindex("--- wrong")
    turned = QUIZ[:first] + QUIZ[second:] + QUIZ[first:second]
    both = [HEADING + as_fence(source) for source in (QUIZ, turned)]
    other = "# Other\n\n" + as_fence(QUIZ.replace("Where", "one.md#Where"))
    assert site.write(index="# I", one=both[0], two=both[1], three=other).build().returncode == 0
    one, two = (soup(site.html(name)).select(".it-quiz ol") for name in ("one", "two"))
    assert list(map(str, one)) == list(map(str, two))
    assert soup(site.html("three")).select_one(".it-quiz details a")["href"] == "one.html#where-it-is-explained"


def test_the_book_gives_no_answer_away(book: Path):
    places = Counter()
    for page in book.glob("*.html"):
        for quiz in soup(page.read_text(encoding="utf-8")).select(".it-quiz"):
            kinds = [reason["class"] for reason in quiz.select("details li")]
            assert kinds.count(["it-right"]) == 1 and 3 <= len(kinds) <= 5
            values = [option["value"] for option in quiz.select("input")]
            assert values == sorted(values), "the order is that of the digests"
            places[kinds.index(["it-right"])] += 1
            assert not quiz.select("[checked], [autofocus], [selected]")
            shown = [line for option in quiz.select(".it-options samp") for line in option.get_text().splitlines()]
            assert shown == [line.rstrip() for line in shown], "only a program would end a line with a space"
    assert len(places) >= 3 and max(places.values()) <= places.total() / 2


def test_the_example_of_the_contributors_is_a_quiz(site: Site):
    (example,) = re.findall(r"```text\n(question: .*?)\n```", (ROOT / "CONTRIBUTING.md").read_text(), re.S)
    assert parse(example).problems == ()
    assert objection(parse(example), "(3, 2)\n") == ""


@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_marks_can_be_read(scheme):
    css = (ROOT / "docs" / "assets" / "book.css").read_text()
    rules = "".join(re.findall(rf'data-md-color-scheme="{scheme}"\] {{(.*?)}}', css, re.S))
    colour = dict(re.findall(r"--([\w-]+): #(\w{6});", rules))
    ground = colour.get("md-default-bg-color", "ffffff")
    for mark in ("it-right", "it-failed", "it-quiet"):
        rgb = [[int(hexed[at : at + 2], 16) / 255 for at in (0, 2, 4)] for hexed in (colour[mark], ground)]
        assert contrast(*rgb) >= 4.5, mark


# In a browser.

KEY = "inside-pytorch-quizzes"
HEIGHTS = "[...document.querySelectorAll('.it-quiz, .it-progress')].map(box => box.offsetHeight)"


@pytest.fixture
def page(chromium, address: str):
    """The tensor page at 320 pixels; fails when it asked another host for anything or its script failed."""
    context = chromium.new_context(viewport={"width": 320, "height": 800}, accept_downloads=True)
    page, asked, errors = context.new_page(), [], []
    context.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(error))
    page.goto(f"{address}/tensor.html")
    yield page
    context.close()
    assert errors == []
    assert [url for url in asked if not url.startswith((address, "blob:"))] == []


def option(page, quiz: int, kind: str) -> int:
    """Where the first right or wrong answer of a quiz stands."""
    reasons = page.locator(".it-quiz").nth(quiz).locator("details li")
    return [reason.get_attribute("class") for reason in reasons.all()].index(f"it-{kind}")


def choose(page, quiz: int, kind: str) -> None:
    page.locator(".it-quiz").nth(quiz).locator("label").nth(option(page, quiz, kind)).click()


def stored(page) -> dict:
    """What the browser keeps, but for the theme's own entry, which says light or dark."""
    kept = page.evaluate("({...localStorage})")
    return {name: value for name, value in kept.items() if not name.endswith(".__palette")}


def because(number: int) -> str:
    """Why the right answer of a quiz of the tensor page is right, as its source says it."""
    fences = BOOK.page("tensor.md").fences
    return [fence.quiz for fence in fences if fence.info == "quiz"][number].because.replace("`", "")


def said(page) -> str:
    return page.locator(".it-progress output").inner_text()


def test_a_wrong_choice_is_told_why(page):
    quiz, at = page.locator(".it-quiz").first, option(page, 0, "wrong")
    assert not quiz.locator("details .it-output").is_visible()
    assert quiz.locator("[role=status]").inner_text() == ""
    choose(page, 0, "wrong")
    why = quiz.locator("details li").nth(at).inner_text()
    assert why.startswith("Wrong. ") and quiz.locator("[role=status]").inner_text() == why
    assert quiz.locator("details .it-output").is_visible() and quiz.locator("details a").is_visible()
    assert said(page).startswith("0 of ")
    assert page.evaluate("document.documentElement.scrollWidth") == 320


def test_a_quiz_is_answered_by_keyboard(page):
    quiz = page.locator(".it-quiz").nth(1)
    radios, right = quiz.locator("input"), option(page, 1, "right")
    radios.first.focus()
    for _ in range(right):
        page.keyboard.press("ArrowDown")
    assert quiz.locator("[role=status]").inner_text() == "", "moving is not yet answering"
    assert quiz.locator(".it-hint").is_visible()
    assert quiz.locator("label").nth(right).evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert quiz.locator("[role=status]").inner_text() == f"Right. {because(1)}"
    assert quiz.locator("details .it-output samp").is_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")  # past the summary and the output, which can be scrolled
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')").startswith("#")
    page.keyboard.press("Enter")
    assert page.url.partition("#")[2] == quiz.locator("details a").get_attribute("href")[1:]


def test_space_answers_too(page):
    page.locator(".it-quiz").nth(1).locator("input").first.focus()
    page.keyboard.press("Space")
    assert page.locator(".it-quiz").nth(1).locator("[role=status]").inner_text() != ""


def test_answers_are_kept_without_a_shift_and_nothing_else_is(page):
    choose(page, 0, "wrong")
    choose(page, 1, "right")
    before = stored(page)
    assert list(before) == [KEY]
    assert all(re.fullmatch(r"[0-9a-f]{12}", word) for pair in json.loads(before[KEY]).items() for word in pair)
    page.route("**/quiz.js", lambda route: route.abort())
    page.reload()
    assert page.locator(".it-options .it-right").count() == 0, "without the script no mark"
    heights = page.evaluate(HEIGHTS)
    page.unroute("**/quiz.js")
    page.reload()
    assert stored(page) == before and said(page).startswith("1 of ")
    for quiz, kind in enumerate(("wrong", "right")):
        label = page.locator(".it-quiz").nth(quiz).locator("label").nth(option(page, quiz, kind))
        assert label.locator("input").is_checked() and label.get_attribute("class") == f"it-{kind}"
    assert page.evaluate(HEIGHTS) == heights
    assert page.context.cookies() == [] and page.evaluate("sessionStorage.length") == 0


def test_export_import_and_reset(page, tmp_path: Path):
    choose(page, 0, "right")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    file = tmp_path / "progress.json"
    download.value.save_as(file)
    before = stored(page)
    assert json.loads(file.read_text()) == json.loads(before[KEY])
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="Reset").click()
    assert stored(page) == before
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Reset").click()
    assert stored(page) == {} and said(page).startswith("0 of ")
    assert page.locator(".it-quiz input:checked, .it-quiz details[open]").count() == 0
    page.get_by_label("Import").set_input_files(file)
    page.wait_for_function("document.querySelector('.it-progress output').textContent.startsWith('1 of ')")
    assert stored(page) == before


@pytest.mark.parametrize("content", ["", "[1", "null", '["<img>"]', '{"a": "<script>alert(1)</script>"}', "7"])
def test_a_file_that_is_no_progress_changes_nothing(page, tmp_path: Path, content):
    choose(page, 0, "right")
    before = stored(page)
    (tmp_path / "other.json").write_text(content)
    page.get_by_label("Import").set_input_files(tmp_path / "other.json")
    page.wait_for_function("document.querySelector('.it-progress output').textContent === 'no progress in this file'")
    assert stored(page) == before


def test_damaged_storage_is_no_obstacle(page):
    for damaged in ("{", "null", "[]", '{"x": 1}'):
        page.evaluate(f"text => localStorage.setItem({KEY!r}, text)", damaged)
        page.reload()
        assert said(page).startswith("0 of ")
    choose(page, 0, "right")
    assert said(page).startswith("1 of ")


def test_without_a_server(chromium, book: Path):
    page = chromium.new_page()
    page.goto((book / "tensor.html").as_uri())
    choose(page, 0, "right")
    assert said(page).startswith("1 of ")
    page.close()


def test_without_a_script(chromium, address: str):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/tensor.html")
    quiz = page.locator(".it-quiz").first
    assert quiz.locator("input:visible").count() == 0 and not page.locator(".it-progress").is_visible()
    assert quiz.locator(".it-options samp:visible").count() >= 3
    assert not quiz.locator(".it-output").is_visible()
    quiz.get_by_text("Predict, then open").click()
    assert quiz.locator(".it-output samp").is_visible() and quiz.locator("details li:visible").count() >= 3
    context.close()


def test_the_script_is_small():
    assert (ROOT / "docs" / "assets" / "quiz.js").stat().st_size < 4096
