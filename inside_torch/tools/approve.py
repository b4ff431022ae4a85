"""`make approve` takes what the pages show now as right, and prints what changed; `make test` compares.

A new torch is a diff of the files in tests/approved/.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from bs4 import BeautifulSoup, Tag

from inside_torch.approved import CITATIONS, Shown, as_text, before, differences, telling_line
from inside_torch.book import Book
from inside_torch.edition import ROOT
from inside_torch.failures import told
from inside_torch.fences import Problem
from inside_torch.render import ten_lines
from inside_torch.render.tables import expand

FOLDER = ROOT / "tests" / "approved"


def figure_text(figure: Tag) -> str:
    """A figure as text: its description and its data."""
    rows = [" | ".join(cell.get_text() for cell in row.find_all(["th", "td"])) for row in figure.select("tr")]
    return "\n".join([figure.select_one("desc").get_text(), *rows])


def shown_on(page_html: str) -> list[Shown]:
    """What a built page shows, in order."""
    found, page = [], BeautifulSoup(page_html, "html.parser")
    for block in page.select(".it-block"):
        if figure := block.select_one(".it-figure"):
            found.append(
                Shown("figure: " + figure.select_one("figcaption").find(string=True).strip(), figure_text(figure))
            )
        else:
            code, output = block.select(".highlight code"), block.select_one(".it-output samp")
            source = telling_line("".join(one.get_text() for one in code)) if code else "a figure that failed"
            found.append(Shown(source, output.get_text() if output else ""))
    if lines := page.select(".it-ten li p:first-of-type"):
        found.append(Shown(ten_lines.TITLE, "\n".join(one.get_text() for one in lines)))
    return found


def built_pages(site: Path, book: Book) -> dict[str, list[Shown]]:
    """What each page of a built site shows, by `src`."""
    built = {page.src: site / page.url for page in book.pages}
    shown = {src: shown_on(file.read_text("utf-8")) for src, file in built.items() if file.exists()}
    return {src: found for src, found in shown.items() if found}


def all_differences(site: Path, book: Book, folder: Path = FOLDER) -> list[str]:
    """What changed in the whole book since it was approved."""
    pages, reports = built_pages(site, book), []
    for src, shown in pages.items():
        page = book.page(src)
        found = differences(page, before(page, folder), shown)
        reports += [told(Problem(line, text), page.name) for line, text in found]
    known = {path.relative_to(folder).as_posix().removesuffix(".txt") for path in folder.rglob("*.txt")}
    return reports + [f"docs/{src}: approved, but no longer a page" for src in sorted(known - pages.keys())]


def approve(site: Path, book: Book, folder: Path = FOLDER) -> None:
    """Write what the built site shows as approved."""
    pages = built_pages(site, book)
    for file in folder.rglob("*.txt"):
        if file.relative_to(folder).as_posix().removesuffix(".txt") not in pages:
            file.unlink()
    for src, shown in pages.items():
        file = folder / f"{src}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(as_text(shown), encoding="utf-8")


def main() -> None:
    """Build the book and approve it, with the lines its citations lead to; prints what changed."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "mkdocs", "build", "--site-dir", folder]
        subprocess.run(command, cwd=ROOT, check=True)
        book = Book.read(expand=expand)
        print("\n\n".join(all_differences(Path(folder), book)) or "Nothing changed.")
        approve(Path(folder), book)
    command = [sys.executable, "-m", "inside_torch.tools.citations", "--save", str(FOLDER / CITATIONS)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
