"""The search, as a reader uses it: every check types into the box of the built book in a real browser."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from conftest import BOOK, Site, fence
from test_browser import AXE, AXE_PATH, SOURCES, opened

from inside_torch.render import search
from inside_torch.take.files import ZIP
from inside_torch.tools.browser import served

QUESTIONS = {
    "Adam bias correction": "update-rules.html#adagrad-rmsprop-adam-a-learning-rate-for-each-number",
    "custom op in C++": "cpp-operators.html#a-custom-operator-in-c",
    "expand versus repeat": "tensor.html#stride-0-many-indices-one-cell",
    "why is my memory not freed": "saved-tensors.html#memory-that-is-not-freed",
    "why does view fail after transpose": "views.html#why-does-view-fail-after-a-transpose",
    "what does zero_grad(set_to_none) do": "optimizer.html",
}
TYPOS = {
    "conitguous": "contiguous",
    "dispather": "dispatcher",
    "gradiant": "gradient",
    "AcumulateGrad": "accumulategrad",
    "tnesor": "tensor",
}
MUSEUM = ("errors", "errors-shapes", "errors-devices")
TRACE = 'Traceback (most recent call last):  File "/home/me/train.py", line 12, in <module>    loss.backward()'
PASTED = {
    "as it is": "{}",
    "with its exception": "RuntimeError: {}",
    "from a rank": "[rank0]: torch.OutOfMemoryError: {}",
    "from a log": "V0101 12:00:00.0 123 torch/_dynamo/guards.py:12] [0/0] {}",
    "with its trace": TRACE + "RuntimeError: {}",
}


@pytest.fixture(scope="module")
def page(chromium, address):
    """The home page of the book, its search box open."""
    page, said = opened(chromium, f"{address}/index.html")
    turn_to_search(page)
    yield page
    page.close()
    assert said == []


def turn_to_search(page) -> None:
    page.wait_for_load_state("networkidle")
    page.locator(".md-search__input").focus()
    page.locator(".md-search__input").fill("torch")
    page.locator("[role=status]", has_text="found").wait_for()


ANSWERS = """queries => {
  const input = document.querySelector('.md-search__input')
  const root = new URL(document.querySelector('[data-root]').dataset.root, location.href).href
  return queries.map(words => {
    input.value = words
    input.dispatchEvent(new Event('input'))
    return [...document.querySelectorAll('.md-search-result__link')]
      .map(one => one.href.replace(root, '').replace(/[?][^#]*/, ''))
  })
}"""


def answers(page, queries: list[str]) -> list[list[str]]:
    """The sections that the search offers for each query, best first, relative to the site."""
    return page.evaluate(ANSWERS, queries)


def searched(page, words: str) -> list[str]:
    """As `answers`, for one query."""
    return answers(page, [words])[0]


def terms(name: str) -> list[str]:
    """What a page is looked for by: its title, and each term that it defines (an *italic* after an article)."""
    return [SOURCES[name].title, *dict.fromkeys(SOURCES[name].terms)]


def unfilled(text: str) -> list[str]:
    """The lines of an output before they were filled to 76 columns: a line ended where the next word had no room."""
    found: list[str] = []
    last = ""
    for line in text.splitlines():
        fits = len(last) + 1 + len((line.split() or [""])[0]) <= 76
        if not found or fits or line.startswith(" "):
            found.append(line)
        else:
            found[-1] += f" {line}"
        last = line
    return found


def messages(book: Path, name: str) -> list[tuple[str, str]]:
    """Each message that a page shows under a heading that is (a part of) a message, with the section's address."""
    found = []
    for block in BeautifulSoup((book / f"{name}.html").read_text(), "html.parser").select(".it-block"):
        shown, heading = block.select_one(".it-output samp"), block.find_previous(["h1", "h2", "h3"])
        source = "".join(code.get_text() for code in block.select(".highlight code"))
        if heading.name == "h3" and shown and re.search(r"except \w+ as error", source):
            found += [(f"{name}.html#{heading['id']}", one) for one in unfilled(shown.get_text()) if is_message(one)]
    return found


def is_message(line: str) -> bool:
    """Whether a printed line is a sentence, and not numbers or a shape."""
    return len(re.findall(r"[A-Za-z_]{2,}", line)) >= 4


def misled(page, queries: list[tuple[str, str]], within: int) -> list[str]:
    """The queries that do not find their section, or any section of their page, among the first results."""
    found = answers(page, [words for _, words in queries])
    return [
        f"{words}: {target}"
        for (target, words), sections in zip(queries, found)
        if not any(one == target or re.split(r"\.html", one)[0] == target for one in sections[:within])
    ]


@pytest.mark.parametrize("how", PASTED)
def test_each_message_of_the_museum_leads_to_its_entry(page, book: Path, how):
    shown = [one for name in MUSEUM for one in messages(book, name)]
    assert len({section for section, _ in shown}) > 20
    assert misled(page, [(section, PASTED[how].format(message)) for section, message in shown], 1) == []


def test_a_message_with_other_numbers_or_cut_off_leads_to_its_entry(page, book: Path):
    shown = [one for name in MUSEUM for one in messages(book, name)]
    other = [(section, re.sub(r"(?<![a-z])\d+", "64", message)) for section, message in shown]
    begun = [(section, " ".join(message.split()[:8])) for section, message in shown]
    assert misled(page, other + begun, 1) == []


@pytest.mark.parametrize("how", PASTED)
def test_what_stands_around_a_message_is_not_sought(page, how):
    message = "view size is not compatible with input tensor's size and stride"
    assert searched(page, PASTED[how].format(message)) == searched(page, message)


def test_a_rare_word_counts_more_than_frequent_ones_and_a_small_one_nothing(page):
    assert searched(page, "import torch print tensor warmup")[0] in searched(page, "warmup")
    assert searched(page, "what does zero_grad(set_to_none) do") == searched(page, "zero_grad set_to_none")
    assert searched(page, "what is it") != [], "but it is sought where there is no other"


def test_natural_questions_find_their_section(page):
    assert misled(page, [(section, words) for words, section in QUESTIONS.items()], 2) == []


def test_each_page_is_found_by_its_title_and_terms_and_each_term_leads_to_its_definition(page, book: Path):
    queries = {name: terms(name) for name in SOURCES if name not in ("index", "reference/figures")}
    assert all(queries.values()) and sum(map(len, queries.values())) > 20
    assert misled(page, [(name, words) for name, asked in queries.items() for words in asked], 10) == []
    assert misled(page, [("tensor", "zyzzyva"), ("index", "as_strided")], 10) == [
        "zyzzyva: tensor",
        "as_strided: index",
    ]
    defined: dict[str, set[str]] = {}
    for section in search.read(book):
        for term in section["terms"]:
            defined.setdefault(term, set()).add(section["location"])
    assert len(defined) > 20
    assert [term for term, sections in defined.items() if searched(page, term)[0] not in sections] == []


def test_every_section_is_found_by_its_title(page, book: Path):
    standing = ("Build it", "When it breaks", "In the source", "Check yourself", "Recap", "Hints", "Solution")
    sections = [
        one
        for one in search.read(book)
        if one["title"] not in (*standing, "The task", "The starter", "Check it", "What it teaches")
    ]
    assert len(sections) > 200
    assert misled(page, [(one["location"], one["title"]) for one in sections], 5) == []


def test_c_plus_plus_is_a_word(page):
    found = searched(page, "C++")
    page.locator("a.md-search-result__link mark", has_text="C++").first.wait_for()
    assert "exercises/cpp_operator.html" in found[:3] and found != searched(page, "C")


@pytest.mark.parametrize("typo", TYPOS)
def test_a_typo_finds_its_word_and_is_told(page, typo):
    assert searched(page, typo) == searched(page, TYPOS[typo]) != []
    searched(page, typo)
    said = page.locator("[role=status]").inner_text()
    assert f"“{typo.lower()}” is not in the book; these have “{TYPOS[typo]}”" in said


def test_one_word_that_is_nowhere_does_not_drown_the_others(page):
    assert searched(page, "version counter zyzzyva")[0] == searched(page, "version counter")[0]
    assert searched(page, "zyzzyva") == []
    assert page.locator("[role=status]").inner_text() == "“zyzzyva” is not in the book. 0 sections found"


def test_the_answer_is_that_of_the_last_key(page):
    wrong = []
    for words in ("leaf variable", "version counter", "graph break", "as_strided", "warmup"):
        expected = searched(page, words)
        page.locator(".md-search__input").fill("")
        page.keyboard.type(words, delay=5)
        shown = page.locator(".md-search-result__link").evaluate_all("all => all.map(one => one.href)")
        root = page.url.rpartition("/")[0] + "/"
        wrong += [words] * ([re.sub(r"\?[^#]*", "", one.removeprefix(root)) for one in shown] != expected)
    assert wrong == []


def test_what_was_sought_is_marked_at_once_on_the_page_that_was_found(chromium, address):
    page, said = opened(chromium, f"{address}/index.html")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    turn_to_search(page)
    turn_to_search(page)
    assert [one for one in asked if one.endswith(".js")] == ["ranking.js", "sections.js"], (
        "the index is fetched once, and not before somebody searches"
    )
    code = page.locator("article .highlight code").all_inner_texts()
    searched(page, "why does view fail after transpose")
    page.keyboard.press("Enter")
    page.wait_for_url("**/views.html?h=view+fail+after+transpose#why-does-view-fail-after-a-transpose")
    marks = {one.lower() for one in page.locator("article mark").all_text_contents()}
    assert marks == {"view", "fail", "after", "transpose"} and not page.locator("svg mark").count()
    page.goto(f"{address}/index.html?h=import+((+^+<b>")
    assert page.locator("article .highlight code").all_inner_texts() == code, "marks change no text"
    assert set(page.locator("article mark").all_text_contents()) == {"import"}
    page.close()
    assert said == []


@pytest.mark.parametrize("width", (360, 1280))
@pytest.mark.parametrize("theme", ("light", "dark"))
def test_the_results_are_accessible(chromium, address, width, theme):
    page, said = opened(chromium, f"{address}/index.html", width, color_scheme=theme)
    page.keyboard.press("/")
    turn_to_search(page)
    links = page.locator(".md-search-result__link")
    searched(page, "dispather")
    page.wait_for_timeout(500)  # the box has unfolded
    page.add_script_tag(path=AXE_PATH)
    assert page.evaluate(AXE) == []
    for key, place in (("ArrowDown", 0), ("ArrowDown", 1), ("ArrowUp", 0), ("Tab", 1)):
        page.keyboard.press(key)
        assert links.nth(place).evaluate("one => one === document.activeElement"), key
    assert links.nth(1).evaluate("one => getComputedStyle(one).outlineStyle") == "solid"
    page.keyboard.press("Escape")
    assert not page.locator(".md-search__output").is_visible()
    page.keyboard.press("s")
    page.keyboard.press("Shift+Tab")
    page.wait_for_function("!document.querySelector('#__search').checked")
    page.wait_for_function("document.documentElement.scrollWidth === innerWidth")  # the box has folded
    page.goto(f"{address}/tensor.html?h=view+stride")
    page.add_script_tag(path=AXE_PATH)
    assert page.evaluate(AXE) == []
    page.close()
    assert said == []


def test_the_box_is_emptied_and_says_when_the_index_is_missing(chromium, address):
    page, _ = opened(chromium, f"{address}/index.html")
    turn_to_search(page)
    page.locator("button[type=reset]").click()
    assert page.locator("[role=status]").inner_text() == "Type to search"
    assert page.locator(".md-search-result__link").count() == 0
    page.close()
    page, _ = opened(chromium, f"{address}/index.html")
    page.route("**/sections.js", lambda route: route.abort())
    page.locator(".md-search__input").focus()
    page.locator("[role=status]", has_text="could not be loaded").wait_for()
    page.close()


def test_the_unzipped_site_works_in_a_folder_without_network(chromium, book: Path, tmp_path: Path):
    zipfile.ZipFile(book / ZIP).extractall(tmp_path)
    home = tmp_path / "inside-pytorch" / "index.html"
    page, said = opened(chromium, home.as_uri(), offline=True)
    page.locator("a", has_text="Tensor types").first.click()
    page.wait_for_load_state()
    assert page.url.endswith("/tensor-types.html")
    turn_to_search(page)
    assert searched(page, "contiguous")[0].startswith("tensor.html")
    page.locator(".md-search-result__link").first.click()
    page.wait_for_url("**/tensor.html*")
    assert page.locator("article mark").count()
    page.locator(".it-quiz label").first.click()
    assert page.locator(".it-verdict").first.inner_text()
    shown = page.evaluate("getComputedStyle(document.querySelector('.it-output > pre')).backgroundColor")
    assert shown not in ("rgba(0, 0, 0, 0)", ""), "the style sheets are there"
    page.close()
    assert said == []


def test_a_page_in_a_folder_is_indexed_and_searches(chromium, site: Site):
    (site.folder / "docs" / "rooms").mkdir()
    (site.folder / "docs" / "rooms" / "deep.md").write_text("# Deep\n\n## Well\n\nA *bucket* hangs here.\n")
    site.write(index=f"# Home\n\nA bucket, and a bucket.\n\n{fence('print(1)')}")
    built = site.build()
    assert built.returncode == 0, built.stdout
    assert {one["location"]: one["terms"] for one in search.read(site.folder / "site")} == {
        "index.html": [],
        "rooms/deep.html": [],
        "rooms/deep.html#well": ["bucket"],
    }
    with served(site.folder / "site") as address:
        page, said = opened(chromium, f"{address}/rooms/deep.html")
        turn_to_search(page)
        assert searched(page, "bucket") == ["rooms/deep.html#well", "index.html"]
        assert searched(page, "buckets") == ["rooms/deep.html#well", "index.html"]
        assert page.locator("[role=status]").inner_text() == "2 sections found", "another form of a word is no typo"
        page.locator(".md-search-result__link").first.click()
        page.wait_for_url("**/rooms/deep.html?h=bucket#well")
        turn_to_search(page)
        searched(page, "home")
        page.keyboard.press("Enter")
        page.wait_for_url("**/index.html?h=home")
        page.goto(f"{address}/404.html")
        turn_to_search(page)
        assert searched(page, "bucket") == ["rooms/deep.html#well", "index.html"]
        page.close()
    assert said == []


def test_the_index_is_plain_text_with_terms_where_they_are_defined():
    assert (
        search.plain("<p>Leaf</p><p>a <code>x.y</code>s &lt;3</p><pre><code>a\n  b</code></pre>")
        == "Leaf a x.ys <3 a b"
    )
    sections = [{"location": "p.html", "text": "Leaf leaf."}, {"location": "p.html#a", "text": "A leaf."}]
    sections.append({"location": "q.html", "text": "A leaf."})
    found = search.with_terms(sections, {"p.html": ["leaf", "leaf", "twig"]})
    assert [one["terms"] for one in found] == [[], ["leaf"], []]


def test_every_defined_term_is_in_the_index(book: Path):
    defined = {page.url: page.terms for page in BOOK.pages if page.kind != "notebook"}
    indexed: dict[str, set[str]] = {}
    for section in search.read(book):
        indexed.setdefault(section["location"].partition("#")[0], set()).update(section["terms"])
    assert sum(map(len, defined.values())) > 20
    assert {page: set(found) - indexed[page] for page, found in defined.items() if set(found) - indexed[page]} == {}


def test_each_chapter_can_be_found_by_its_words(book: Path):
    found: dict[str, str] = {}
    for one in search.read(book):
        page = one["location"].partition("#")[0]
        found[page] = f"{found.get(page, '')} {one['title']} {one['text']}".lower()
    assert "as_strided" in found["tensor.html"] and "contiguous" in found["tensor.html"]
    assert "csr" in found["tensor-types.html"] and "faketensor" in found["tensor-types.html"]
    assert "strides" in found["tour.html"]
    assert "copied!" not in found["tour.html"]
