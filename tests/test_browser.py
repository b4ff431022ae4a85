"""Every page of the built book in a real browser: each check is a function that returns what is wrong, and each
is shown at the end to find what was broken on purpose."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
import time
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

import axe_playwright_python
import pytest
from conftest import BOOK, ROOT, Site, fence

from inside_torch.edition import Edition
from inside_torch.history import book_commit
from inside_torch.render.notebook import cells
from inside_torch.run.cache import Cache, digest
from inside_torch.tools.browser import served

SOURCES = {page.stem: page for page in BOOK.pages}
PAGES = [*SOURCES, "404"]
UNLIKE = ("index", "tensor", "tour", "reference/gallery", "exercises/strides", "404")  # looked at in every form
AXE_PATH = Path(axe_playwright_python.__path__[0]) / "axe.min.js"
CLIPBOARD = ("clipboard-read", "clipboard-write")
WIDTHS = (320, 768, 1280)
SCHEMES = {"light": "default", "dark": "slate"}
# A first visit: compressed bytes, requests, milliseconds without an answer. Pages that may weigh more would be named
# here, with a reason.
WEIGHT, HOME_WEIGHT, REQUESTS, BLOCKED = 150_000, 90_000, 12, 125
HEAVIER: dict[str, str] = {}

SHIFTS = """
window.shifts = []
const place = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(' ')
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts.push(
    `layout shift of ${entry.value}: ` + entry.sources.map(({ node, previousRect, currentRect }) =>
      `${node?.outerHTML?.slice(0, 80)} from ${place(previousRect)} to ${place(currentRect)}`).join(', '))
}).observe({ type: 'layout-shift', buffered: true })
"""
# Of the pieces of code that look alike on a page, axe is shown one, and the others as text of the line they stand in:
# it takes as long for each of hundreds. What fades in or out is at its end first: it has other colours on the way.
AXE = """async () => {
  document.head.insertAdjacentHTML('beforeend', '<style>*, ::before, ::after { transition: none !important }</style>')
  const looks = new Set()
  const alike = [...document.querySelectorAll('.highlight code span')].filter(one => {
    const { color, fontWeight, fontSize } = getComputedStyle(one)
    const look = [color, fontWeight, fontSize, getComputedStyle(one.closest('code')).backgroundColor].join()
    return looks.has(look) || !looks.add(look)
  })
  alike.forEach(one => one.replaceWith(...one.childNodes))
  const found = await axe.run({ resultTypes: ['violations'], selectors: false })
  return found.violations.map(one => `${one.id}: ${one.nodes.length} times, first ${one.nodes[0].html.slice(0, 200)}`)
}"""
# What a block's link and copy button lie on, once its code is scrolled to the end.
COVERED = """() => [...document.querySelectorAll('.it-source, .highlight:has(> .it-tools)')].flatMap(block => {
  const tools = block.querySelector('.it-tools').getBoundingClientRect()
  if (tools.width) block.querySelector('code').scrollLeft = 1e6
  return [...block.querySelectorAll('.filename, code')].filter(one => {
    const range = document.createRange()
    range.selectNodeContents(one)
    return [...range.getClientRects()].some(({ left, right, top, bottom }) =>
      left < tools.right && right > tools.left && top < tools.bottom && bottom > tools.top)
  }).map(one => `covered: ${one.textContent.slice(0, 80)}`)
})"""
# What goes on at the right and does not fade there.
CUT = """() => [...document.querySelectorAll('article :is(.highlight code, .it-output > pre, .it-scroll)')]
  .filter(one => one.checkVisibility() && one.scrollWidth - one.clientWidth - one.scrollLeft > 2)
  .filter(one => getComputedStyle(one).maskImage === 'none')
  .map(one => `goes on without a cue: ${one.outerHTML.slice(0, 80)}`)"""
# Code that scrolls, and that no key reaches.
UNREACHED = """() => [...document.querySelectorAll('article .highlight code')]
  .filter(one => one.checkVisibility() && one.scrollWidth > one.clientWidth && one.tabIndex < 0)
  .map(one => `scrolls by pointer only: ${one.textContent.slice(0, 80)}`)"""
# Text in a figure that no rule gives a color: black in both themes.
UNCOLORED = """() => [...document.querySelectorAll('article svg text')]
  .filter(one => getComputedStyle(one).fill === 'rgb(0, 0, 0)')
  .map(one => `without a color: ${one.outerHTML.slice(0, 80)}`)"""
FOCUSABLE = """() => {
  const seen = new Set()
  const found = [...document.querySelectorAll('a[href], button, input, summary, [tabindex="0"]')].filter(one => {
    if (one.tabIndex < 0 || one.matches('.md-top') || // the theme shows it on the way up only
       one.disabled || !one.checkVisibility({ visibilityProperty: true })) return false
    if (one.closest('details:not([open])') && !one.matches('summary')) return false
    if (one.type === 'radio' && seen.has(one.name)) return false
    return seen.add(one.name), true
  })
  window.wanted = new Map(found.map(one => [one.type === 'radio' ? one.name : one, one]))
  window.unmarked = []
  document.addEventListener('focusin', ({ target }) => {
    window.wanted.delete(target.type === 'radio' ? target.name : target)
    const marked = [target, target.labels?.[0], target.parentElement].some(one => {
      if (!one) return false
      const { outlineStyle, outlineWidth, clipPath } = getComputedStyle(one)
      return outlineStyle !== 'none' && parseFloat(outlineWidth) > 0 && clipPath === 'none'
    })
    if (!marked) window.unmarked.push(target.outerHTML.slice(0, 120))
  })
  return found.length
}"""


RIGHT = Cache(Edition(), "browser", "tools")


@functools.cache
def dress(book: Path) -> str:
    """A digest of the styles and scripts of a site."""
    assets = [path.read_text() for path in sorted(book.rglob("*.[cj]s*")) if path.suffix in (".css", ".js")]
    return digest(*[text for text in assets if not text.startswith("var __index")])


def seen(check: str, book: Path, name: str, theme: str = "") -> tuple[str, ...]:
    """What the verdict of a check of a page depends on: the bytes of the page, of its styles and scripts, and of this
    file."""
    text = (book / f"{name}.html").read_text()
    if found := book_commit():  # what says which commit this is looks alike in all
        text = text.replace(found[0][:10], "").replace(f"{found[1]:%Y-%m-%d %H:%M}", "")
    return check, name, theme, text, dress(book), Path(__file__).read_text()


def once(check):
    """A check of a page whose verdict is remembered."""

    @functools.wraps(check)
    def remembered(**given) -> None:
        all_that = seen(check.__name__, given["book"], given["name"], given.get("theme", ""))
        if not RIGHT.get(*all_that):
            check(**given)
            RIGHT.put(True, *all_that)

    return remembered


def new_window(browser, **options):
    """A window, with a blank page that keeps it open."""
    context = browser.new_context(**options)
    context.add_init_script(SHIFTS)
    context.new_page()
    return context


window = functools.cache(new_window)  # to open one takes longer than to load most pages in it


class Tab:
    """A page in a process of its own, and what it complains of. Whatever it visits, it visits for the first time:
    nothing that was fetched or kept before is there. Of a window's tabs only the newest is painted."""

    def __init__(self, window) -> None:
        self.page, self.said = window.new_page(), []
        self.devtools = self.page.context.new_cdp_session(self.page)
        self.devtools.send("Network.enable")
        self.devtools.send("Network.setCacheDisabled", {"cacheDisabled": True})
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("console", lambda one: self.said.append(one.text) if one.type in ("error", "warning") else 0)
        self.page.on("request", lambda one: self.said.append(one.url) if not one.url.startswith(self.near) else 0)

    def visit(self, url: str, late=False, **dress):
        """The page, loaded from `url`; its scripts may come late, after its first paint."""
        self.forget(url, **dress)
        come_late(self.page, url) if late else self.page.goto(url)
        return self.page

    def forget(self, url: str, width=1280, color_scheme="light", reduced_motion="no-preference") -> None:
        """Make the page blank, as if nobody had been at `url` before."""
        origin = re.match(r"\w+://[^/]*", url)[0]
        self.near = (origin, "blob:", "data:")
        self.page.goto("about:blank")
        self.said.clear()
        self.devtools.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        self.page.set_viewport_size({"width": width, "height": 800})
        self.page.emulate_media(media="screen", color_scheme=color_scheme, reduced_motion=reduced_motion)


def come_late(page, url: str) -> None:
    """Load a page whose scripts come after its first paint."""
    held = []
    page.route(re.compile(r"\.js$"), lambda route: held.append(route))
    page.goto(url, wait_until="commit")
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
    page.wait_for_timeout(100)
    for one in held:
        one.continue_()
    page.unroute_all()
    page.wait_for_load_state("networkidle")


@pytest.fixture(scope="session")
def tab(chromium):
    """The tab in which all pages are looked at: the process is not the page's own, but has the checker compiled."""
    return Tab(new_window(chromium, permissions=CLIPBOARD))


@pytest.fixture(scope="session")
def scriptless(chromium):
    return Tab(new_window(chromium, java_script_enabled=False))


def opened(browser, url: str, width=1280, color_scheme="light", reduced_motion="no-preference", **options):
    """A page in a tab of its own, and what it complains of while it lives."""
    tab = Tab(window(browser, **options))
    return tab.visit(url, width=width, color_scheme=color_scheme, reduced_motion=reduced_motion), tab.said


def broken_looks(page, width: int) -> list[str]:
    """What is wrong with a page at its present width: things that moved, lie under others, scroll sideways, or keep
    somebody out."""
    found = page.evaluate("window.shifts") + page.evaluate(CUT) + page.evaluate(COVERED) + page.evaluate(UNREACHED)
    found += page.evaluate(UNCOLORED)
    if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
        found.append(f"scrolls sideways: {wide} px")
    page.add_script_tag(path=AXE_PATH)
    return found + page.evaluate(AXE)


def first_visit(browser, url: str) -> tuple[int, int, float]:
    """What a first visit costs: compressed bytes, requests, and total blocking time in ms. That is what each task of
    the main thread takes beyond 50 ms, in the thread's own time, so that other work on the machine adds nothing."""
    tab, asked = Tab(window(browser)), []
    tab.page.on("response", lambda response: asked.append(response.request))
    tab.forget(url)
    browser.start_tracing(page=tab.page, categories=["devtools.timeline", "toplevel"])
    tab.page.goto(url)
    tab.page.wait_for_load_state("networkidle")
    blocked = sum(max(0, task - 50) for task in tasks(json.loads(browser.stop_tracing())["traceEvents"], url))
    packed = sum(one.sizes()["responseBodySize"] for one in asked)
    tab.page.close()
    return packed, len(asked), blocked


def tasks(events: list[dict], url: str) -> list[float]:
    """How long each task of the page's main thread took, in ms of the thread's own time."""
    commits = [one for one in events if one["name"] == "CommitLoad" and one["args"]["data"]["url"] == url]
    assert commits, "what the page did was not recorded from its start"
    main = commits[0]["pid"], commits[0]["tid"]
    found = [one for one in events if one["name"].endswith("RunTask") and (one["pid"], one["tid"]) == main]
    return [one.get("tdur", 0) / 1000 for one in found]


def too_costly(name: str, packed: int, requests: int, blocked: float) -> list[str]:
    allowed = HOME_WEIGHT if name == "index" else WEIGHT
    found = [f"{name} weighs {packed} bytes, of {allowed}"] if packed > allowed and name not in HEAVIER else []
    found += [f"{name} makes {requests} requests"] if requests > REQUESTS else []
    return found + ([f"{name} holds a reader up for {blocked} ms"] if blocked >= BLOCKED else [])


def too_slow_or_heavy(browser, address: str, name: str) -> list[str]:
    """What a first visit costs too much. Whatever else the machine does only adds to a visit's time, to three times as
    much, so the quickest of five visits counts; most pages need one."""
    for _ in range(5):
        if not (found := too_costly(name, *first_visit(browser, f"{address}/{name}.html"))):
            break
    return found


def unreached(page) -> list[str]:
    """What the Tab key, held down, does not reach, or reaches without showing it. Nothing of that need be painted."""
    page.evaluate("document.activeElement?.blur(), document.documentElement.style.opacity = 0")
    for _ in range(page.evaluate(FOCUSABLE) + 5):
        page.keyboard.down("Tab")
    page.keyboard.up("Tab")
    page.evaluate("document.documentElement.style.opacity = 1")
    missed = page.evaluate("[...window.wanted.values()].map(one => `not reached: ${one.outerHTML.slice(0, 120)}`)")
    return missed + [f"focus not visible: {one}" for one in page.evaluate("window.unmarked")]


def hidden_without_script(page) -> list[str]:
    """What of a page's content cannot be seen."""
    return page.evaluate("""[...document.querySelectorAll('article :is(h1, h2, h3, p, li, pre, table, svg, math)')]
        .filter(one => !one.closest('details:not([open]), .it-hidden, .it-progress, .it-hint'))
        .filter(one => !one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
        .filter(one => !one.matches('.it-wide, .it-narrow') // of two layouts one is shown
          || ![...one.parentElement.children].some(layout => layout.checkVisibility()))
        .map(one => one.outerHTML.slice(0, 120))""")


def lost_on_paper(page) -> list[str]:
    """What print shows and should not, or cuts off."""
    page.emulate_media(media="print")
    shown = page.evaluate("""[...document.querySelectorAll('.md-header, .md-sidebar, .md-footer__inner, .md-top,' +
        '.it-tools, .it-link, .it-about, .it-progress, .headerlink')]
        .filter(one => one.checkVisibility()).map(one => one.className)""")
    cut = page.evaluate("""[...document.querySelectorAll('article :is(pre, code, samp, svg, table, .it-scroll)')]
        .filter(one => one.checkVisibility() && (one.getBoundingClientRect().right > innerWidth + 1
          || getComputedStyle(one).display !== 'inline' && one.scrollWidth > one.clientWidth + 1))
        .map(one => `cut off: ${one.outerHTML.slice(0, 80)}`)""")
    return [f"printed: {one}" for one in shown] + cut


def test_no_page_is_excepted_from_its_weight():
    assert HEAVIER == {}


@pytest.mark.parametrize("theme", SCHEMES)
@pytest.mark.parametrize("name", PAGES)
@once
def test_a_page_looks_right(tab, address, book, name, theme):
    for width in WIDTHS if name in UNLIKE else WIDTHS[:1]:
        page = tab.visit(f"{address}/{name}.html", width=width, color_scheme=theme)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.body.dataset.mdColorScheme") == SCHEMES[theme]
        assert (broken_looks(page, width), tab.said) == ([], []), width


class InPieces(SimpleHTTPRequestHandler):
    """Serves a page tag by tag up to its first block, and link by link in its footer, as a slow network may."""

    def copyfile(self, source, outputfile) -> None:
        text, sent = source.read(), 0
        for tag in re.finditer(rb"<[^/][^>]*>|</a>", text):
            in_footer = tag[0] == b"</a>" and tag.start() > text.find(b"<footer") > 0
            in_article = text.find(b"<article") < tag.start() < text.find(b"it-block")
            if in_footer or (in_article and tag[0] != b"</a>"):
                outputfile.write(text[sent : (sent := tag.end())])
                outputfile.flush()
                time.sleep(0.3 if in_footer else 0.03)
        outputfile.write(text[sent:])


def moved_in_pieces(browser, book: Path, name: str) -> list[str]:
    """What moves while a page arrives in pieces, in all widths."""
    moved = []
    with served(book, InPieces) as address:
        for width in WIDTHS:
            page, _ = opened(browser, f"{address}/{name}.html", width)
            page.wait_for_load_state("networkidle")
            moved += [f"{width} px: {one}" for one in page.evaluate("window.shifts")]
            page.close()
    return moved


@pytest.mark.parametrize("name", ["index", "tour", "tensor", "errors", "404"])
@once
def test_a_page_that_arrives_in_pieces_moves_nothing(chromium, book, name):
    assert moved_in_pieces(chromium, book, name) == []


def light_and_quick(browser, address: str, name: str) -> tuple[list[str], bool]:
    """What one visit costs too much, whatever its time, and whether it was quick as well."""
    packed, requests, blocked = first_visit(browser, f"{address}/{name}.html")
    return too_costly(name, packed, requests, 0), not too_costly(name, packed, requests, blocked)


@pytest.mark.parametrize("name", PAGES)
@once
def test_a_first_visit_is_light(chromium, address, book, name):
    """Whatever else the machine does only adds to a visit's time: what is quick beside other tests is quick."""
    heavy, quick = light_and_quick(chromium, address, name)
    assert heavy == []
    if quick:
        RIGHT.put(True, *seen("test_a_first_visit_is_light_and_quick", book, name))


@pytest.mark.quiet
@pytest.mark.parametrize("name", PAGES)
@once
def test_a_first_visit_is_light_and_quick(chromium, address, book, name):
    assert too_slow_or_heavy(chromium, address, name) == []


@pytest.mark.parametrize("name", PAGES)
@once
def test_nothing_is_lost_without_script(scriptless, address, book, name):
    assert hidden_without_script(scriptless.visit(f"{address}/{name}.html", width=720)) == []


COPIED = """async () => {
  const found = []
  for (const button of document.querySelectorAll('.it-block .it-copy')) {
    for (let one = button.closest('details'); one; one = one.parentElement.closest('details')) one.open = true
    button.scrollIntoView({ block: 'center', behavior: 'instant' })
    const { x, y, width, height } = button.getBoundingClientRect()
    if (document.elementFromPoint(x + width / 2, y + height / 2) !== button) found.push('out of reach')
    button.click()
    for (let wait = 0; button.textContent === 'copy' && wait < 1000; wait++) await new Promise(setTimeout)
    found.push(await navigator.clipboard.readText())
  }
  return found
}"""


def copied(page) -> list[str]:
    """What each copy button of the page puts on the clipboard, in order; the first is also clicked as a reader does."""
    if (first := page.locator(".it-block .it-copy").first).count():
        first.click()
        first.filter(has_text="copied").wait_for()
    return page.evaluate(COPIED)


def programs(name: str) -> list[str]:
    """What the copy buttons of a page are to take, in order."""
    if name not in SOURCES:
        return []
    page = SOURCES[name]
    return cells(page.text) if page.kind == "notebook" else [one.program for one in page.programs]


@pytest.mark.parametrize("name", PAGES)
@once
def test_copies_are_exact_the_keyboard_reaches_everything_and_print_is_clean(tab, address, book, name):
    """And scripts that come late move nothing."""
    page = tab.visit(f"{address}/{name}.html", late=True)
    assert page.evaluate("window.shifts") == []
    page.emulate_media(reduced_motion="reduce")
    assert copied(page) == programs(name)
    assert unreached(page) == []
    page.set_viewport_size({"width": 720, "height": 800})
    assert lost_on_paper(page) == []
    assert tab.said == []


def test_the_search_keeps_its_room_before_its_form_has_come(chromium, address):
    """A page is painted while it is still being read, and may end for a moment within its header."""
    page, _ = opened(chromium, f"{address}/index.html")
    height = "document.querySelector('.md-search').offsetHeight"
    complete = page.evaluate(height)
    page.evaluate("document.querySelector('.md-search__form').remove()")
    assert page.evaluate(height) == complete > 40
    page.close()


def test_a_permalink_leads_to_its_block(chromium, address):
    page, _ = opened(chromium, f"{address}/tensor.html")
    for link in [page.locator(".it-source .it-link").nth(3), page.locator("figcaption .it-link").first]:
        link.click()
        name = page.url.partition("#")[2]
        assert page.locator(f"[id='{name}']").count() == 1
        assert page.evaluate("document.querySelector(':target').getBoundingClientRect().top") >= 48, "below the header"
    page.close()


def test_pages_can_be_turned(chromium, address):
    page, _ = opened(chromium, f"{address}/index.html")
    turned = ["index"]
    while (link := page.locator(".md-footer__link--next")).count():
        link.click()
        page.wait_for_load_state()
        turned.append(re.search(rf"{address}/(.+)\.html", page.url)[1])
        assert page.locator(".md-footer__link--prev").evaluate("one => one.href") == f"{address}/{turned[-2]}.html"
    page.close()
    assert sorted(turned) == sorted(SOURCES)


# What is broken on purpose, and what the checks say of it.

BROKEN = """
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">
<p style="color: #bbb; background: #fff">pale</p>
<div class="it-scroll" style="mask-image: none; width: 9em" tabindex="0"><div style="width: 20em">no cue</div></div>
<div style="width: 2000px">wide</div>
<p class="late" style="opacity: 0">only with a script</p>
<p><a href="#x" style="outline: none">no outline</a><span onclick="0" tabindex="0" style="outline: none">x</span></p>
<p inert><a href="#i">out of reach</a></p>
<div class="it-tools" style="display: block !important"><a href="#y">printed</a></div>
<div class="highlight"><div class="it-tools" style="inset: 0 auto auto 0">over</div><pre><code>under</code></pre></div>
<svg width="50" height="20"><text y="15">black</text></svg>
<script>
console.error('oh')
fetch('http://127.0.0.2:9/').catch(() => 0)
document.querySelector('.late').style.opacity = 1
const code = `<div class="highlight"><pre><code>${'code '.repeat(99)}</code></pre></div>`
const late = '<div style="height: 300px">x</div>' + code
setTimeout(() => document.querySelector('h1').insertAdjacentHTML('beforebegin', late), 300)
</script>
<style>a:focus-visible, span:focus-visible { outline: none !important }</style>
"""
PALE = """# P

<div class="highlight"><pre><code>dark <span class="k">dark</span> <span class="k" style="color: #eee">pale</span>
<span class="k" style="color: #eee">pale</span></code></pre></div>
"""
LATE = """# L

<p class="late-top">moved</p>
<script src="assets/late.js"></script>
"""
TORN = f"""# T

{'<p style="text-align: end">one <a>two</a></p>' * 9}

```python
print(1)
```
"""
BUSY = "# B\n\n<script>for (let i = 0, s = 0; i < 6e8; i++) s += i</script>\n"


def test_each_check_finds_what_is_broken(chromium, site: Site):
    heavy = "x".join(map(str, range(90_000)))
    site.write(index=f"# P\n\n{fence('print(1)')}\n{BROKEN}", heavy=f"# H\n\n{heavy}", busy=BUSY, late=LATE)
    site.write(pale=PALE, torn=TORN, dim='# D\n\n<p style="color: #444">dim</p>\n')
    (site.folder / "docs" / "assets" / "late.js").write_text("document.querySelector('h1').style.paddingTop = '90px'")
    assert site.build().returncode == 0
    with served(site.folder / "site") as address:
        tab = Tab(new_window(chromium))
        page = tab.visit(f"{address}/index.html")
        page.wait_for_timeout(500)
        found, said = "\n".join(broken_looks(page, 1280)), [*tab.said]
        focus = "\n".join(unreached(page))
        printed = "\n".join(lost_on_paper(page))
        page.evaluate("localStorage.kept = 1")
        (pale,) = broken_looks(tab.visit(f"{address}/pale.html"), 1280)
        assert page.evaluate("localStorage.kept") is None and tab.said == [], "nothing is left of the page before"
        page = Tab(new_window(chromium, java_script_enabled=False)).visit(f"{address}/index.html")
        hidden = "\n".join(hidden_without_script(page))
        assert light_and_quick(chromium, address, "busy") == ([], False), "to be visited again, when all is quiet"
        (weighs,), _ = light_and_quick(chromium, address, "heavy")
        heavy = too_slow_or_heavy(chromium, address, "heavy")
        busy = too_slow_or_heavy(chromium, address, "busy")
        late = tab.visit(f"{address}/late.html", late=True).evaluate("window.shifts")
        for theme, looks in (("light", []), ("dark", ["color-contrast: 1 times"])):
            page = tab.visit(f"{address}/dim.html", color_scheme=theme)
            assert [found.partition(", ")[0] for found in broken_looks(page, 1280)] == looks
        torn = moved_in_pieces(chromium, site.folder / "site", "torn")
    assert {one.partition(": layout shift")[0] for one in torn} == {f"{width} px" for width in WIDTHS}
    for broken in (
        "image-alt",
        "color-contrast",
        "scrolls sideways",
        "layout shift",
        "covered: under",
        "goes on without a cue",
        "scrolls by pointer only",
        "without a color",
    ):
        assert broken in found, found
    assert "oh" in said and any("127.0.0.2" in one for one in said)
    assert "focus not visible" in focus and re.search("not reached: .*out of reach", focus)
    assert "it-tools" in printed and "cut off" not in found
    assert "only with a script" in hidden
    assert "weighs" in weighs
    assert any("weighs" in one for one in heavy) and any("holds a reader up" in one for one in busy)
    assert too_costly("index", 90_001, 13, 0) == ["index weighs 90001 bytes, of 90000", "index makes 13 requests"]
    assert pale.startswith("color-contrast: 1 times") and "pale" in pale, "the second looks like the first"
    assert len(late) == 1 and "late-top" in late[0]


def test_what_fades_in_is_looked_at_when_it_is_there(chromium):
    page = new_window(chromium).new_page()
    page.set_content("<html lang=en><title>F</title><main><h1 style='opacity: .3; transition: opacity 99s'>fades")
    page.add_script_tag(path=AXE_PATH)
    page.evaluate("getComputedStyle(document.querySelector('h1')).opacity")
    page.evaluate("document.querySelector('h1').style.opacity = 1")
    on_its_way = page.evaluate(AXE.replace("transition: none", "x: y"))
    assert [one.partition(":")[0] for one in on_its_way] == ["color-contrast"] and page.evaluate(AXE) == []
    page.context.close()


def test_a_copy_button_that_takes_something_else_is_noticed(chromium, site: Site):
    assert site.write(index=f"# P\n\n{fence('print(1)')}").build().returncode == 0
    html = site.folder / "site" / "index.html"
    html.write_text(html.read_text().replace("<code>", "<code># stray\n"))
    with served(site.folder / "site") as address:
        page, _ = opened(chromium, f"{address}/index.html", permissions=CLIPBOARD)
        assert copied(page) == ["# stray\nprint(1)"]
        page.close()


@pytest.mark.parametrize(("ci", "ends"), [("", "1 skipped"), ("true", "1 error")])
def test_without_a_browser_a_test_is_skipped_but_in_ci_it_fails(ci, ends):
    nowhere = os.environ | {"CI": ci, "PATH": "", "PLAYWRIGHT_BROWSERS_PATH": "/nonexistent"}
    one = f"{__file__}::test_a_copy_button_that_takes_something_else_is_noticed"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", one]
    said = subprocess.run(command, cwd=ROOT, env=nowhere, capture_output=True, text=True).stdout
    assert ends in said and "no Chromium on this machine" in said
