"""Temporary sites: pages on purpose right or wrong, built with the book's own configuration."""

from __future__ import annotations

import fcntl
import functools
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag

from inside_torch.approved import Shown, telling_line
from inside_torch.book import Book
from inside_torch.build import Build
from inside_torch.edition import Edition
from inside_torch.render import ten_lines
from inside_torch.render.tables import expand
from inside_torch.tools import browser

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Site:
    """A small book in a folder of its own, with its own cache."""

    folder: Path

    def write(self, **pages: str) -> Site:
        for name, text in pages.items():
            path = self.folder / "docs" / f"{name}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        return self

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {
            "INSIDE_TORCH_CACHE": str(self.folder / "cache"),
            "NO_MKDOCS_2_WARNING": "1",
            "PYTHONPATH": str(ROOT),
        }

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "mkdocs", *arguments]

    def build(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        """`mkdocs build`; returns its status and everything it said, in `stdout`."""
        return subprocess.run(
            self.command("build", *arguments),
            cwd=self.folder,
            env=self.environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
        )

    def html(self, page: str = "index") -> str:
        return (self.folder / "site" / f"{page}.html").read_text(encoding="utf-8")

    def files(self) -> dict[str, bytes]:
        """Every file of the built site."""
        site = self.folder / "site"
        return {str(path.relative_to(site)): path.read_bytes() for path in sorted(site.rglob("*")) if path.is_file()}

    def cached(self) -> int:
        return len(list((self.folder / "cache" / "blocks").rglob("*.json")))


CONFIGURATION = """\
INHERIT: {root}/mkdocs.yml
nav:
hooks: [{root}/inside_torch/hooks.py]
watch: []
plugins:
  search: {{}}
"""


def small_site(tmp_path: Path) -> Site:
    """A site without pages in an empty folder."""
    (tmp_path / "docs").mkdir()
    shutil.copytree(ROOT / "docs" / "assets", tmp_path / "docs" / "assets")
    (tmp_path / "mkdocs.yml").write_text(CONFIGURATION.format(root=ROOT))
    return Site(tmp_path)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return small_site(tmp_path)


@functools.cache
def build() -> Build:
    """The book as the build knows it: its pages, and what its blocks print."""
    return Build(Edition())


BOOK = Book.read(expand=expand)


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the real book's site, built strictly, once for all the processes that test: by `make test` before
    them, or else by the first of them."""
    if built := os.environ.get("INSIDE_TORCH_BOOK"):
        return Path(built)
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    folder = shared / "book"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder / "site")]
    with open(shared / "book.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "whole").exists():
            built = subprocess.run(command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, timeout=1800)
            assert built.returncode == 0
            (folder / "whole").touch()
    return folder / "site"


@pytest.fixture(scope="session")
def chromium():
    """The machine's Chromium, or Playwright's own; where there is none a test is skipped, but in CI it fails."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = browser.chromium(playwright.chromium.executable_path)
        if not path:
            (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("no Chromium on this machine")
        launched = playwright.chromium.launch(executable_path=path, args=browser.FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def address(book: Path):
    with browser.served(book) as found:
        yield found


def figure_text(figure: Tag) -> str:
    """A figure as text: its description and its data."""
    rows = [" | ".join(cell.get_text() for cell in row.find_all(["th", "td"])) for row in figure.select("tr")]
    return "\n".join([figure.select_one("desc").get_text(), *rows])


def shown_on(page_html: str) -> list[Shown]:
    """What a built page shows, in order."""
    found, page = [], BeautifulSoup(page_html, "html.parser")
    for block in page.select(".it-block"):
        if figure := block.select_one(".it-figure"):
            title = figure.select_one("figcaption").find(string=True).strip()
            found.append(Shown(f"figure: {title}", figure_text(figure)))
        else:
            code, output = block.select(".highlight code"), block.select_one(".it-output samp")
            source = telling_line("".join(one.get_text() for one in code))
            found.append(Shown(source, output.get_text() if output else ""))
    if lines := page.select(".it-ten li p:first-of-type"):
        found.append(Shown(ten_lines.TITLE, "\n".join(one.get_text() for one in lines)))
    return found


def built_pages(site: Path, book: Book) -> dict[str, list[Shown]]:
    """What each page of a built site shows, by `src`."""
    built = {page.src: site / page.url for page in book.pages}
    shown = {src: shown_on(file.read_text("utf-8")) for src, file in built.items() if file.exists()}
    return {src: found for src, found in shown.items() if found}


@pytest.fixture(scope="session")
def shown_pages(book: Path) -> dict[str, list[Shown]]:
    """What each page of the real book shows, by `src`."""
    return built_pages(book, BOOK)


def fence(source: str, info: str = "python") -> str:
    return f"```{info}\n{source}\n```\n"


def left_behind(word: str) -> list[str]:
    """Command lines of processes that hold `word`, besides this test's own."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if word in line and int(folder.name) != os.getpid():
            found.append(line)
    return found
