"""Approved outputs: tests/approved/PAGE.txt holds what a reader of the page sees under each block.

`make approve` writes them from a build; `make test` compares. A new torch is a diff of these files.
"""

from __future__ import annotations

import difflib
import platform
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bs4 import BeautifulSoup, Tag

from inside_torch import edition
from inside_torch.fences import fences

FOLDER = edition.ROOT / "tests" / "approved"
CITATIONS = "citations.json"


@dataclass(frozen=True)
class Shown:
    """One block, figure or cell of a page: a line of its source that tells it from others, and what it shows."""

    source: str
    output: str


def telling_line(source: str) -> str:
    """The first line of a program that is no import."""
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    return next((line for line in lines if not re.match(r"(?:import|from|#)\b", line)), lines[0] if lines else "")


def figure_text(figure: Tag) -> str:
    """A figure as text: its description and its data."""
    rows = [" | ".join(cell.get_text() for cell in row.find_all(["th", "td"])) for row in figure.select("tr")]
    return "\n".join([figure.select_one("desc").get_text(), *rows])


def shown_on(page_html: str) -> list[Shown]:
    """What a built page shows, in order."""
    found = []
    for block in BeautifulSoup(page_html, "html.parser").select(".it-block"):
        if figure := block.select_one(".it-figure"):
            found.append(
                Shown("figure: " + figure.select_one("figcaption").find(string=True).strip(), figure_text(figure))
            )
        else:
            code, output = block.select_one(".highlight code"), block.select_one(".it-output samp")
            source = telling_line(code.get_text()) if code else "a figure that failed"
            found.append(Shown(source, output.get_text() if output else ""))
    return found


def as_text(shown: list[Shown]) -> str:
    """The content of an approved file."""
    parts = []
    for item in shown:
        body = "".join(f"    {line}\n" if line else "\n" for line in item.output.splitlines())
        parts.append(f"{item.source}\n{body}")
    return "\n".join(parts)


def as_shown(text: str) -> list[Shown]:
    """The blocks of an approved file: a line at the margin begins one, its output is indented."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line and not line.startswith("    "):
            found.append((line, []))
        elif found:
            found[-1][1].append(line.removeprefix("    "))
    return [Shown(source, "\n".join(lines).strip("\n")) for source, lines in found]


def lines_of(page: str) -> list[int]:
    """The line of each fence of a page that runs, in order; none for a notebook."""
    path = edition.ROOT / "docs" / page
    return (
        [fence.line for fence in fences(path.read_text(encoding="utf-8"), page)[0] if fence.runs]
        if path.suffix == ".md"
        else []
    )


def differences(page: str, approved: str, now: list[Shown]) -> list[str]:
    """What changed on a page since it was approved: one report a block, with page and line."""
    before, lines, reports = as_shown(approved), lines_of(page), []
    matcher = difflib.SequenceMatcher(None, [b.source for b in before], [n.source for n in now], autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        for old, new, number in zip(before[a:b], now[c:d], range(c, d)) if kind == "equal" else ():
            was, now_is = old.output.strip("\n"), new.output.strip("\n")
            if was != now_is:
                diff = difflib.unified_diff(was.split("\n"), now_is.split("\n"), "approved", "now", lineterm="")
                reports.append(f"{place(page, lines, number)}: the output changed: {new.source}\n" + "\n".join(diff))
        if kind != "equal":
            reports += [f"docs/{page}: no longer there: {old.source}" for old in before[a:b]]
            reports += [f"{place(page, lines, n)}: not approved yet: {now[n].source}" for n in range(c, d)]
    return reports


def place(page: str, lines: list[int], number: int) -> str:
    return f"docs/{page}:{lines[number]}" if number < len(lines) else f"docs/{page}, cell {number + 1}"


def built_pages(site: Path) -> dict[str, list[Shown]]:
    """What each page of a built site shows, by the name of its source."""
    pages = {}
    for path in sorted((edition.ROOT / "docs").iterdir()):
        built = site / f"{path.stem}.html"
        if path.suffix in (".md", ".py", ".ipynb") and built.exists() and (shown := shown_on(built.read_text("utf-8"))):
            pages[path.name] = shown
    return pages


def is_edition() -> bool:
    """Whether this Python and machine are the edition's, so that every output must be as approved."""
    python = platform.python_implementation(), sys.version_info[:2]
    return python == ("CPython", (3, 11)) and (platform.system(), platform.machine()) == ("Linux", "x86_64")


def all_differences(site: Path, folder: Path = FOLDER) -> list[str]:
    """What changed in the whole book since it was approved."""
    pages, reports = built_pages(site), []
    for page, shown in pages.items():
        file = folder / f"{page}.txt"
        reports += differences(page, file.read_text("utf-8") if file.exists() else "", shown)
    known = {path.name.removesuffix(".txt") for path in folder.glob("*.txt")}
    return reports + [f"docs/{page}: approved, but no longer a page" for page in sorted(known - pages.keys())]


def approve(site: Path, folder: Path = FOLDER) -> None:
    """Write what the built site shows as approved."""
    folder.mkdir(exist_ok=True)
    pages = built_pages(site)
    for file in folder.glob("*.txt"):
        if file.name.removesuffix(".txt") not in pages:
            file.unlink()
    for page, shown in pages.items():
        (folder / f"{page}.txt").write_text(as_text(shown), encoding="utf-8")


def main() -> None:
    """Build the book and approve it, with the lines its citations lead to; prints what changed."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "mkdocs", "build", "--site-dir", folder]
        subprocess.run(command, cwd=edition.ROOT, check=True)
        print("\n\n".join(all_differences(Path(folder))) or "Nothing changed.")
        approve(Path(folder))
    command = [sys.executable, "-m", "inside_torch.citations", "--save", str(FOLDER / CITATIONS)]
    subprocess.run(command, cwd=edition.ROOT, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
