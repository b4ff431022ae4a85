"""What a reader takes along reads well everywhere and keeps its answers; every page says where the book lives."""

from __future__ import annotations

import base64
import io
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import axe_playwright_python
import jupytext
import nbformat
import pytest
from bs4 import BeautifulSoup
from conftest import BOOK, CONFIGURATION, ROOT, Site, build

from inside_torch.book import Book, Page
from inside_torch.edition import Edition
from inside_torch.history import book_commit, history
from inside_torch.render import changes
from inside_torch.render.about import Imprint, description
from inside_torch.render.cards import card
from inside_torch.render.tables import expand
from inside_torch.render.ten_lines import MEASURES
from inside_torch.take.files import file_names, forms
from inside_torch.take.notebook import PICTURE
from inside_torch.tools.browser import served

SITE, REPO = "https://someone.example/book", "https://github.com/someone/book"
FENCE = re.compile(r"^ *(`{3,})[^\n]*\n.*?^ *\1$", re.S | re.M)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
FORMULA = re.compile(r"\$[^$\n]+\$")
SYNTAX = re.compile(
    r"^.*(?:!!! |\?\?\?\+? |=== \"|--8<--|\]\(src:|\{[:.#]|\{ [:.#]|\bmarkdown=|<div"
    r"|\]\([^)]*\.md\b|[\x1a\x1b]).*$",
    re.M,
)


def raw(text: str) -> list[str]:
    """Lines of a Markdown text with what only MkDocs understands."""
    for code in (PICTURE, FENCE, CODE, FORMULA):
        text = code.sub("", text)
    return [found[0] for found in SYNTAX.finditer(text)]


def led(text: str) -> set[str]:
    """Where the links of a Markdown text lead, and the raw ones."""
    for code in (PICTURE, FENCE, CODE):
        text = code.sub("", text)
    return set(re.findall(r"(?<!\\)\]\(([^)\s]+)", text)) | set(re.findall(r'href="([^"]+)', text))


def prose(notebook) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def taken(page: Page, build, site: str = "") -> tuple[nbformat.NotebookNode, str, str]:
    """A page as notebook, script and Markdown."""
    made = forms(page, build, site)
    notebook = nbformat.reads(made["notebook"], 4)
    nbformat.validate(notebook)
    return notebook, made["script"], made["Markdown"]


@pytest.mark.parametrize(
    "line",
    [
        "!!! warning",
        '??? tip "Hint"',
        '???+ tip "Hint"',
        '=== "Tab"',
        '--8<-- "examples/network.py"',
        "[call](src:torch/nn/modules/module.py)",
        "## Title { #title }",
        "{: .lead }",
        '<div class="it-pair" markdown>',
        "[page](tensor.md)",
        "[section](tensor.md#a)",
    ],
)
def test_what_only_mkdocs_understands_is_found(line):
    assert raw(f"Text.\n\n{line}\n") == [line]
    assert raw(f"Text.\n\n```text\n{line}\n```\n") == []


@pytest.mark.parametrize("page", BOOK.pages, ids=[page.stem for page in BOOK.pages])
def test_every_page_reads_well_in_every_form(page: Page):
    page = build().book.page(page.src)
    known = {one.url for one in BOOK.pages}
    for site in ("", f"{SITE}/"):
        notebook, _, markdown = taken(page, build(), site)
        for text in (prose(notebook), markdown):
            assert raw(text) == []
            for target in led(text):
                here = site if site else "https://beside.example/"
                inside = target.startswith(site) if site else "://" not in target
                file = (target if site else f"{here}{Path(page.src).parent}/{target}").partition("#")[0]
                path = str(Path(urlsplit(file).path.removeprefix("/book" if site else "")).resolve()).lstrip("/")
                assert not inside or path in known | {"inside-pytorch.zip", "llms.txt", changes.JSON, MEASURES}, target
                assert inside or target.startswith("https://") or not site, f"{target} leads nowhere from a notebook"
        if page.kind != "notebook":
            quizzes = {fence.program for fence in page.fences if fence.info == "quiz"}
            cells = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.outputs]
            assert not any(program in cell.source for cell in cells for program in quizzes)


PAGE = """---
hide: [toc]
---
# Views

A tensor is a *view* of [storage](exercises/strides.md), says `"quoted"`, and moves [nothing](#where-it-lives). See
[the call](src:torch/nn/modules/module.py#Module._call_impl).

## Where it lives

```python
import torch

print(torch.ones(2).tolist())
```

```figure
import torch

from inside_torch.figures import storage_strip

print(storage_strip({"y": torch.arange(3)}, title="y reads [all] cells"))
```

```quiz
question: What is printed?
section: Where it lives
because: The two are multiplied.
--- program
print(6 * 7)
--- wrong
41
because: One less.
--- wrong
43
because: One more.
```

!!! warning "Mind `this`"

    A warning with `{.code}`, $x_{.1}$ and [a link](exercises/strides.md#deep).

??? note "More"

    ```text
    ??? tip "not a fold"
    ```

    ??? tip

        Inner [link][deep].

    After it.

??? note "With a program"

    ```python
    print("inside")
    ```

=== "One"

    First.

A paragraph.
{: .lead #lead }

<div class="it-pair" markdown>

A pair.

</div>

[deep]: exercises/strides.md#deep
"""
STRIDES = """# Strides

An exercise about [views](../index.md).

## Deep { #deep }

??? tip "Hint 1"

    Think.

??? success "Solution"

    ```python title="examples/exercises/strides/solution.py"
    --8<-- "examples/exercises/strides/solution.py"
    ```
"""


def git(folder: Path, *arguments: str) -> str:
    settings = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", "-C", folder, *settings, *arguments], check=True, capture_output=True).stdout.decode()


def small_book(folder: Path) -> Site:
    """A book of two pages with every form that a page can have, and with a past of two commits."""
    shutil.copytree(ROOT / "docs" / "assets", folder / "docs" / "assets")
    (folder / "mkdocs.yml").write_text(CONFIGURATION.format(root=ROOT))
    (folder / "examples").symlink_to(ROOT / "examples")
    site = Site(folder).write(index=PAGE, **{"exercises/strides": STRIDES})
    git(folder, "init", "-q")
    git(folder, "add", "docs")
    git(folder, "commit", "-qm", "Views: the first page & <more>")
    site.write(index=PAGE + "\nThe end.\n")
    git(folder, "commit", "-qam", "Views: an end")
    return site


def built(site: Site, **environment: str) -> dict[str, bytes]:
    """The files of a book that is built now."""
    made = site.build(**environment)
    assert made.returncode == 0, made.stdout
    return site.files()


@pytest.fixture
def small(tmp_path: Path) -> Site:
    return small_book(tmp_path / "small")


@pytest.fixture(scope="module")
def housed(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The small book, built where both its addresses are known."""
    site = small_book(tmp_path_factory.mktemp("housed") / "small")
    built(site, SITE_URL=SITE, REPO_URL=REPO)
    return site


@pytest.fixture(scope="module")
def files(housed: Site) -> dict[str, bytes]:
    return housed.files()


def test_a_page_with_every_form_reads_well_where_it_is_taken(files: dict[str, bytes]):
    notebook = nbformat.reads(files["inside-index.ipynb"].decode(), 4)
    text, markdown = prose(notebook), files["index.md"].decode()
    for made in (text, markdown, prose(jupytext.reads(files["inside-index.py"].decode(), "py:percent"))):
        assert raw(made) == [] and "hide:" not in made
        assert led(made) >= {f"{SITE}/exercises/strides.html", f"{SITE}/index.html#where-it-lives"}
        assert f"[deep]: {SITE}/exercises/strides.html#deep" in made
        assert '<details><summary>More</summary>\n\n```text\n??? tip "not a fold"\n```\n\n<details><summary>Tip' in made
        assert "**Mind `this`**\n\nA warning with `{.code}`, $x_{.1}$" in made
    assert "data:" not in files["inside-index.py"].decode() + markdown
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    printed = {cell.source: [one.text for one in cell.outputs] for cell in code[1:]}
    assert list(printed.values()) == [["[1.0, 1.0]\n"], [], ["inside\n"]], "the quiz, second, keeps its answer"
    assert "**Predict, then run.** What is printed?" in text and "42" not in text
    reasons = r"The two are multiplied\.\n\nNot this: One less\.\n\n```text\n41\n```"
    assert re.search(rf"<details>.*\n\n{reasons}.*</details>", text, re.S)
    assert re.search(r"<details>.*\n\nIt prints:\n\n```text\n42\n```.*</details>", markdown, re.S)


def test_an_exercise_keeps_its_hints_and_its_solution_folded(files: dict[str, bytes]):
    notebook = nbformat.reads(files["exercises/inside-strides.ipynb"].decode(), 4)
    for made in (prose(notebook), files["exercises/strides.md"].decode()):
        assert "<details><summary>Hint 1</summary>\n\nThink.\n\n</details>" in made
        solution = (ROOT / "examples" / "exercises" / "strides" / "solution.py").read_text().rstrip()
        assert f"<details><summary>Solution</summary>\n\n```python\n{solution}\n```\n\n</details>" in made
        assert "## Deep\n" in made


def test_without_an_address_links_lead_to_the_files_of_the_zip(small: Site):
    files = built(small)
    assert led(files["index.md"].decode()) >= {"exercises/strides.html", "index.html#where-it-lives"}
    assert "../index.html" in led(files["exercises/strides.md"].decode())


def test_a_figure_is_a_picture_with_its_finding_and_a_folded_table(files: dict[str, bytes]):
    text = prose(nbformat.reads(files["inside-index.ipynb"].decode(), 4))
    alt, data = re.search(r"^!\[(.*)\]\(data:image/svg\+xml;base64,(.*)\)$", text, re.M).groups()
    drawing = ElementTree.fromstring(base64.b64decode(data))
    assert alt == r"y reads \[all\] cells"
    assert "--it-accent: #" in drawing.find("{http://www.w3.org/2000/svg}style").text
    assert len(list(drawing.iter("{http://www.w3.org/2000/svg}rect"))) >= 3
    after = PICTURE.split(text)[1]
    assert re.match(
        r"\*y reads \[all\] cells\.\*.*\n\n<details><summary>The figure as a table</summary>\n\n\| ten", after
    )


# Where the book lives.


def soup(text: str | bytes) -> BeautifulSoup:
    return BeautifulSoup(text, "html.parser")


def test_a_page_says_where_it_lives(files: dict[str, bytes]):
    page = soup(files["exercises/strides.html"])
    about = {link.get_text(): link["href"] for link in page.select("h1 + .it-about a")}
    assert about["Edit this page"] == f"{REPO}/edit/main/docs/exercises/strides.md"
    assert about["News of the book"] == "../changes.html"
    assert about["open in Colab"].endswith("/github/someone/book/blob/notebooks/inside-strides.ipynb")
    address, _, query = about["Report a mistake"].partition("?")
    asked = {name: value[0] for name, value in parse_qs(query).items()}
    assert address == f"{REPO}/issues/new" and asked["title"] == "Strides: "
    assert f"({SITE}/exercises/strides.html)\nSection: \n" in asked["body"]
    said = page.select_one(".it-about").get_text()
    assert "Last changed on " in said
    commit = book_commit()[0][:10]
    for part in (
        "title = {Inside PyTorch: Strides}",
        f"url = {{{SITE}/exercises/strides.html}}",
        f"Book {commit}, torch",
    ):
        assert part in said
    head = {one.get("property") or one.get("name"): one.get("content") for one in page.select("head meta")}
    assert head["og:title"] == "Strides" and head["og:image"] == f"{SITE}/cards/exercises/strides.png"
    assert head["description"] == head["og:description"] == "An exercise about views."


def test_each_page_has_a_description_of_its_own(files: dict[str, bytes]):
    described = soup(files["index.html"]).select_one("meta[name=description]")["content"]
    assert described == 'A tensor is a view of storage, says "quoted", and moves nothing. See the call.'
    assert f"- [Views]({SITE}/index.md): {described}\n" in files["llms.txt"].decode()
    assert (
        description("<h1>P</h1><figure><p class='x'>no</p></figure><p>a <b>b</b>\n&lt;c&gt;</p><p>d</p>")
        == "a b &lt;c&gt;"
    )


def test_a_book_without_an_address_names_none(small: Site):
    files = built(small)
    page = soup(files["index.html"])
    about = page.select_one(".it-about")
    assert "Last changed on " in about.get_text() and "@misc{inside-pytorch-index," in about.get_text()
    assert "url =" not in about.get_text()
    assert [link["href"] for link in about.select("a")] == list(file_names("index").values())
    assert not page.select("meta[property^=og]") and not page.select('link[type="application/atom+xml"]')
    assert not [name for name in files if "cards" in name or name in ("changes.html", "feed.xml", "feed.html")]


def test_the_news_are_the_commits(housed: Site, files: dict[str, bytes]):
    commits = git(housed.folder, "log", "--format=%H").split()
    page = soup(files["changes.html"])
    listed = page.select("article li")
    assert [item.select_one("a")["href"] for item in listed] == [f"{REPO}/commit/{one}" for one in commits]
    assert [item.select_one("a").get_text() for item in listed] == ["Views: an end", "Views: the first page & <more>"]
    assert [[link["href"] for link in item.select("a")[1:]] for item in listed] == [
        ["index.html"],
        ["exercises/strides.html", "index.html"],
    ]
    feed = ElementTree.fromstring(files["feed.xml"])
    atom = "{http://www.w3.org/2005/Atom}"
    assert [one.find(f"{atom}id").text for one in feed.iter(f"{atom}entry")] == [
        f"{REPO}/commit/{one}" for one in commits
    ]
    assert feed.find(f"{atom}updated").text == feed.find(f"{atom}entry/{atom}updated").text
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", feed.find(f"{atom}updated").text)


def test_the_same_commit_gives_the_same_bytes(small: Site, housed: Site, files: dict[str, bytes]):
    clone = small.folder.parent / "clone"
    git(housed.folder, "clone", "-q", ".", str(clone))
    shutil.rmtree(small.folder / "docs")
    shutil.rmtree(small.folder / ".git")
    (clone / "docs").rename(small.folder / "docs")
    (clone / ".git").rename(small.folder / ".git")
    shutil.copytree(ROOT / "docs" / "assets", small.folder / "docs" / "assets", dirs_exist_ok=True)
    again = built(small, SITE_URL=SITE, REPO_URL=REPO)
    assert again.keys() == files.keys() and [name for name in files if again[name] != files[name]] == []


def read(site: Site) -> Book:
    return Book.read(site.folder, expand)


def test_a_page_that_was_renamed_keeps_its_past(small: Site):
    before = [commit.subject for commit in history(read(small))]
    git(small.folder, "mv", "docs/index.md", "docs/views.md")
    git(small.folder, "commit", "-qm", "House: another name")
    small.write(views=PAGE + "\nThe very end.\n")
    git(small.folder, "commit", "-qam", "Views: the very end")
    found = history(read(small))
    assert [commit.subject for commit in found] == ["Views: the very end", *before], "a new name is no news"
    assert all(commit.pages[-1].src == "views.md" for commit in found)


def test_outside_git_and_in_a_shallow_clone_nothing_is_said(small: Site, tmp_path: Path):
    shallow = tmp_path / "shallow"
    git(small.folder, "clone", "-q", "--depth=1", f"file://{small.folder}", str(shallow))
    assert history(read(small)) and not history(Book.read(shallow, expand))
    (small.folder / ".git").rename(tmp_path / "elsewhere")
    imprint = Imprint(read(small), Edition(), SITE, REPO)
    assert not imprint.commits and not imprint.news


def test_a_card_is_a_picture_of_its_title(files: dict[str, bytes]):
    from PIL import Image, ImageFont

    made = files["cards/index.png"]
    assert made.startswith(b"\x89PNG") and len(made) < 60_000
    assert made == card("Views", Edition().release) != card("View", Edition().release)
    assert Image.open(io.BytesIO(made)).size == (1200, 630)
    font = ImageFont.load_default(40)
    unknown = bytes(font.getmask("\uffff"))
    letters = set("".join(page.title for page in BOOK.pages)) - {" "}
    assert {one for one in letters if bytes(font.getmask(one)) == unknown} == set(), "the font has every letter"
    for title in ("W" * 30, "Schedulers made of schedulers, and one that looks at the loss " * 2):
        assert card(title, "2.13.0").startswith(b"\x89PNG")


AXE = (Path(axe_playwright_python.__path__[0]) / "axe.min.js").read_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_line_about_a_page_is_calm_and_a_section_is_reported_with_its_name(housed: Site, chromium, scheme):
    with served(housed.folder / "site") as address:
        page = chromium.new_page(viewport={"width": 360, "height": 700}, color_scheme=scheme)
        page.goto(f"{address}/index.html")
        about = page.locator(".it-about summary")
        about.evaluate("one => one.textContent = one.textContent.replace(/^\\d+ minutes?/, '25 minutes')")
        lines = about.evaluate(
            "one => { const r = document.createRange(); r.selectNodeContents(one); "
            "return new Set([...r.getClientRects()].map(one => one.top)).size }"
        )
        assert lines == 1 and not page.locator(".it-about ul").is_visible()
        about.click()
        assert page.locator(".it-about ul").is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        (section,) = page.locator("h2 .it-wrong-here").all()
        body = parse_qs(urlsplit(section.get_attribute("href")).query)["body"][0]
        assert "\nSection: Where it lives (#where-it-lives)\n" in body
        page.evaluate(AXE)
        assert page.evaluate("axe.run({resultTypes: ['violations']}).then(found => found.violations)") == []
        page.emulate_media(media="print")
        assert not page.locator(".it-about").is_visible() and not section.is_visible()
        page.emulate_media(media="screen")
        page.goto(f"{address}/changes.html")
        page.evaluate(AXE)
        assert page.evaluate("axe.run({resultTypes: ['violations']}).then(found => found.violations)") == []
        page.close()
