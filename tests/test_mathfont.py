"""Formulas stand in the font that the book brings, on every page, and a character that it lacks is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Site

from inside_torch.render.mathfont import characters
from inside_torch.tools.browser import served

FORMULAS = "# Page\n\nA sum, $y = \\sum_n h_n$, and\n\n$$\n\\frac{1}{2} (x - \\mu)^2\n$$\n"


def patient(route) -> None:
    """Wait for the font: a page shows it only if it comes in time, and what it has is asked here."""
    answer = route.fetch()
    assert "font-display: optional" in answer.text()
    route.fulfill(response=answer, body=answer.text().replace("font-display: optional", "font-display: block"))


@pytest.fixture
def page(chromium):
    with chromium.new_page() as page:
        page.route("**/assets/book.css*", patient)
        yield page


def other_fonts(page, url: str) -> set[str]:
    """The fonts in which a page draws its formulas, without the one that it brings."""
    page.goto(url)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")  # what is folded has no font
    page.wait_for_load_state("networkidle")
    page.evaluate("document.fonts.ready")
    devtools = page.context.new_cdp_session(page)
    root = devtools.send("DOM.getDocument")["root"]["nodeId"]
    devtools.send("CSS.enable")
    nodes = devtools.send("DOM.querySelectorAll", {"nodeId": root, "selector": "math *"})["nodeIds"]
    used = [font for node in nodes for font in devtools.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]]
    devtools.detach()
    assert used
    return {font["familyName"] for font in used if not font["isCustomFont"]}


def test_every_formula_of_the_book_stands_in_its_font(page, address, book: Path):
    pages = [path for path in book.rglob("*.html") if characters(path.read_text("utf-8"))]
    assert pages
    found = {path.name: other_fonts(page, f"{address}/{path.relative_to(book)}") for path in pages}
    assert not any(found.values()), found


def test_a_font_that_lacks_a_character_is_noticed(page, site: Site):
    assert site.write(index=FORMULAS).build().returncode == 0
    html = site.folder / "site" / "index.html"
    with served(html.parent) as address:
        assert other_fonts(page, f"{address}/index.html") == set()
        html.write_text(html.read_text().replace("<mi>h</mi>", "<mi>q</mi>", 1))
        assert other_fonts(page, f"{address}/index.html") != set()
        (html.parent / "assets" / "math.woff2").unlink()
        assert other_fonts(page, f"{address}/index.html") != set()


def test_what_a_formula_shows_are_its_letters_upright_and_in_italics():
    assert characters("<math><mi>h</mi><mo>&#x0003D;</mo></math> and <math>") == {"h", "\N{PLANCK CONSTANT}", "="}
    assert characters("<math><msqrt><mn>2</mn></msqrt></math>") == {"2", "\N{SQUARE ROOT}"}
    assert characters("no formula: h") == set()
