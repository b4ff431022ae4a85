"""Labs: figures until they are touched, small, all on the page Labs. What each one does: tests/test_lab_*.py."""

import json
import re

import pytest
from conftest import BOOK, ROOT

from inside_torch.drawing.svg import figure
from inside_torch.labs import LIMIT, lab
from inside_torch.render.figures import checked_figure, data_of, figure_html

FOLDER = ROOT / "docs" / "labs"
SCRIPTS = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.js")}
LABS = [found[1] for text in SCRIPTS.values() if (found := re.search(r'customElements\.define\("([\w-]+)"', text))]
FIGURES = [(page, fence.source) for page in BOOK.pages for fence in page.fences if fence.info == "figure"]
PAGES = {name: page for page, source in FIGURES for name in re.findall(r'\blab\(\s*"([\w-]+)"', source)}
DRAWN = figure([], 10, 10, "A finding", "What is seen.", ["a"], [[1]])


def test_every_lab_has_its_figure_and_its_place_on_the_page_labs():
    assert sorted(PAGES) == sorted(LABS)
    text = next(page for page in BOOK.pages if page.src == "labs/index.md").text
    assert [name for name, page in PAGES.items() if f"](../{page.src})" not in text] == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_lab_is_small(name):
    lines = SCRIPTS[name].splitlines()
    assert len(lines) <= 200
    assert max(map(len, lines)) <= 120


def test_a_figure_becomes_a_lab():
    svg = lab("a-lab", "Try it & see", DRAWN, {"steps": [1]}, files=("more.js",))
    kept = {"name": "a-lab", "invitation": "Try it & see", "recording": {"steps": [1]}, "files": ["more.js"]}
    assert data_of(svg)["lab"] == kept
    told = figure_html(checked_figure(svg), "")
    files = "lab.css lab.js a-lab.data.js more.js a-lab.js"
    assert told.startswith(f'<a-lab class="it-lab" id="a-lab" data-files="{files}"><figure')
    assert '<button type="button">Try it &amp; see</button>' in told and "steps" not in told


def test_a_recording_that_is_too_large_is_refused():
    with pytest.raises(ValueError, match=f"the lab a-lab has {LIMIT + 1} bytes"):
        lab("a-lab", "Try it", DRAWN, "x" * (LIMIT - 1))


def unfold(page) -> None:
    """Open the settings, where a narrow page has them folded."""
    summary = page.locator(".it-lab-more > summary")
    if summary.is_visible():
        summary.click()


@pytest.mark.parametrize("name", LABS)
def test_on_a_phone_the_picture_is_seen_first_and_where_there_is_room_nothing_is_folded(chromium, address, name):
    page = chromium.new_page(viewport={"width": 360, "height": 740})
    page.goto(f"{address}/{PAGES[name].url}?lab={name}#{name}")
    page.wait_for_selector(f"#{name} .it-lab-said:not(:empty)")
    tops = "all => all.map(one => one.getBoundingClientRect().top)"
    tops_of = lambda *parts: [page.locator(f"#{name} {part}").evaluate_all(tops)[0] for part in parts]  # noqa: E731
    box, picture, fold = tops_of(".it-lab-box", ".it-lab-stage", ".it-lab-more")
    assert picture - box < 140 and fold > picture
    assert page.locator(f"#{name} .it-lab-more").get_attribute("open") is None
    unfold(page)
    assert page.locator(f"#{name} .it-lab-more").get_attribute("open") == ""
    page.set_viewport_size({"width": 1280, "height": 740})
    page.wait_for_selector(f"#{name} .it-lab-box:not(.it-narrow)")
    fold, controls = tops_of(".it-lab-more", ".it-lab-box > .it-lab-controls")
    assert fold < controls and not page.locator(f"#{name} .it-lab-more > summary").is_visible()
    page.close()


@pytest.mark.parametrize("name", LABS)
def test_what_a_lab_takes_is_loaded_when_its_button_is_pressed(chromium, address, book, name):
    page, asked = chromium.new_page(), []
    page.on("request", lambda one: asked.append(one.url.partition("/labs/")[2]))
    page.goto(f"{address}/{PAGES[name].url}")
    page.wait_for_load_state("networkidle")
    assert not any(asked)
    page.locator(f"#{name} .it-lab-open button").click()
    page.wait_for_selector(f"#{name} .it-lab-said:not(:empty)")
    assert f"{name}.js" in asked and "lab.js" in asked
    recorded = book / "labs" / f"{name}.data.js"
    assert json.loads(recorded.read_text().partition(" = ")[2]) is None or f"{name}.data.js" in asked
    assert page.evaluate("document.activeElement.closest('.it-lab-box') !== null")
    page.close()
