"""What the look of a page promises, in a small site: weight of titles and captions, cues, C++ in its colours."""

from __future__ import annotations

from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from conftest import fence, small_site

from inside_torch.render.fences import is_cpp, output_html
from inside_torch.render.source import fold_line
from inside_torch.tools.browser import served

CPP = "for (int64_t i = 0; i < 8; i++)\n{\n    auto x = in[i] * 2.0f; // twice\n    out[i] = x < 1 ? x : 1;\n}"
FIGURE = "import torch\nfrom inside_torch.figures import storage_strip\nx = torch.arange(6)\n"
FIGURE += "print(storage_strip({'x': x}, title='One storage'))"
PAGE = f"""# Looks

A [knot](knots.md) of which another page says what it is.

Some text that is long enough to be as wide as text is on a page, so that a figure can stand in the middle of it.

## A section

{fence("print('wide', 'x' * 70)")}
{fence("print('narrow')")}
{fence(FIGURE, "figure")}
$$
a = b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r + s + t + u + v + w + x + y + z + a + b + c
$$
"""


@pytest.fixture(scope="module")
def looks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small built site."""
    made = small_site(tmp_path_factory.mktemp("looks"))
    assert made.write(index=PAGE, knots="# Knots\n\nA *knot* is a `rope` around\nitself.\n").build().returncode == 0
    return made.folder / "site"


def opened(chromium, folder: Path, width: int):
    page = chromium.new_page(viewport={"width": width, "height": 900})
    with served(folder) as address:
        page.goto(f"{address}/index.html")
        page.wait_for_load_state("networkidle")
    return page


@pytest.mark.parametrize("printed", [CPP, 'extern "C" void f();\nint x;'])
def test_cpp_is_coloured_as_cpp_and_stays_the_same_text(printed: str):
    shown = BeautifulSoup(output_html(printed), "html.parser")
    assert shown.select_one(".it-cpp samp").get_text() == printed and shown.select(".it-cpp span[class^=k]")


@pytest.mark.parametrize("printed", ["a; b", "tensor([1, 2])\n{}", "{'a': 1}", "one;\ntwo\nthree", "<b>;\nx\ny"])
def test_what_is_no_cpp_has_no_colours(printed: str):
    assert not is_cpp(printed) and "<span" not in output_html(printed)


def test_what_is_cut_off_fades_until_one_has_scrolled_to_its_end(chromium, looks: Path):
    page = opened(chromium, looks, 360)
    box, formula = page.locator(".it-output > pre").first, page.locator(".it-formula")
    assert [one.evaluate("one => one.classList.contains('it-cut')") for one in (box, formula)] == [True, True]
    assert "it-cut" not in (page.locator(".it-output > pre").nth(1).get_attribute("class") or "")
    box.evaluate("one => one.scrollLeft = 1e6")
    page.wait_for_function("!document.querySelector('.it-output > pre').classList.contains('it-cut')")
    page.close()


def test_titles_have_weight_and_a_caption_is_smaller_than_the_text(chromium, looks: Path):
    page = opened(chromium, looks, 1280)
    style = "([one, name]) => parseFloat(getComputedStyle(document.querySelector(one))[name])"
    size = {one: page.evaluate(style, [one, "fontSize"]) for one in ("h1", "h2", "article > p", "figcaption")}
    assert size["h1"] > size["h2"] > size["article > p"] > size["figcaption"]
    weights = [page.evaluate(style, [one, "fontWeight"]) for one in ("h1", "h2", "figcaption strong", "article > p")]
    assert weights[0] > weights[3] and weights[1] >= 700 and weights[2] >= 700
    page.close()


def test_a_figure_stands_in_the_middle_of_the_text_and_a_little_larger_than_drawn(chromium, looks: Path):
    page = opened(chromium, looks, 1280)
    text, drawing = page.locator("article > p").first.bounding_box(), page.locator("article svg.figure").bounding_box()
    assert abs(text["x"] + text["width"] / 2 - drawing["x"] - drawing["width"] / 2) < 30
    natural = float(page.locator("article svg.figure").get_attribute("width"))
    assert 1.2 * natural <= drawing["width"] <= 1.25 * natural + 1
    page.set_viewport_size({"width": 320, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    page.close()


def test_whoever_comes_to_a_term_by_keyboard_reads_its_definition_there(chromium, looks: Path):
    page = opened(chromium, looks, 320)
    link, shown = page.get_by_role("link", name="knot", exact=True), page.get_by_role("tooltip")
    link.focus()
    place, below = shown.bounding_box(), link.bounding_box()
    assert shown.inner_text() == "A knot is a rope around itself."
    assert place["x"] >= 0 and place["x"] + place["width"] <= 320 and place["y"] > below["y"] + below["height"]
    page.keyboard.press("Escape")
    assert shown.count() == 0
    link.blur()
    link.focus()
    page.keyboard.press("Tab")
    assert shown.count() == 0
    page.close()


@pytest.mark.parametrize(
    ("hidden", "said"),
    [
        ("import torch", "import torch"),
        ("import re\nimport torch\n", "import re …"),
        ("import torch\n\nx, y = 1, 2\n\n\ndef seen(t):\n    z = t\n", "in the fold: seen, x, y"),
        ("class A:\n    b = 1\n\nx = 1\nx = 2\nx.c = 3\n", "in the fold: A, x"),
        ("for i in", "for i in"),
    ],
)
def test_a_closed_fold_says_what_it_defines(hidden: str, said: str):
    assert fold_line(hidden) == said
