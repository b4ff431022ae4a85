"""`make approve` takes what the pages show now as right, and prints what changed; `make test` compares.

A new torch is a diff of the files in tests/approved/.
"""

import json
import sys
from pathlib import Path

from inside_torch.approved import CITATIONS, Shown, as_text, before, differences, files, shown
from inside_torch.book import Book
from inside_torch.build import Build
from inside_torch.edition import ROOT, Edition
from inside_torch.failures import all_told, told
from inside_torch.fences import Problem
from inside_torch.tools.citations import named, rows

FOLDER = ROOT / "tests" / "approved"


def shown_by(build: Build) -> dict[str, list[Shown]]:
    """What each page of a book shows, by `src`; nothing of a page without programs."""
    pages = {page.src: list(shown(page, build)) for page in build.book.pages}
    return {src: found for src, found in pages.items() if found}


def all_differences(pages: dict[str, list[Shown]], book: Book, folder: Path = FOLDER) -> list[str]:
    """What changed in the whole book since it was approved."""
    reports = []
    for src, found in pages.items():
        page = book.page(src)
        changed = differences(page, before(page, folder), found)
        reports += [told(Problem(line, text), page.name) for line, text in changed]
    gone = sorted(files(folder).keys() - pages.keys())
    return reports + [f"docs/{src}: approved, but no longer a page" for src in gone]


def approve(pages: dict[str, list[Shown]], folder: Path = FOLDER) -> None:
    """Write what the pages show as approved."""
    for file in files(folder).values():
        file.unlink()
    for src, found in pages.items():
        file = folder / f"{src}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(as_text(found), encoding="utf-8")


def main() -> None:
    """Approve the book, with the lines its citations lead to, and print what changed; not a book with problems."""
    build = Build(Edition())
    build.check_sources()
    if problems := all_told(build.book.pages):
        sys.exit("\n".join(problems))
    pages = shown_by(build)
    print("\n\n".join(all_differences(pages, build.book)) or "Nothing changed.")
    approve(pages)
    kept = {"torch": named(build.edition), "citations": rows(build)}
    (FOLDER / CITATIONS).write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
