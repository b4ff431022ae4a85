"""`make citations`: every citation of the book, what proves it, and where it leads.

`python -m inside_torch.tools.citations PYTHON` says what becomes of them with the torch that PYTHON imports: which
moved, which vanished. --save keeps the list.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from inside_torch.book import Book
from inside_torch.build import Build
from inside_torch.citations import Proofs, references
from inside_torch.citations.proof import UnprovenError
from inside_torch.edition import Edition

Row = dict[str, str | int | None]


def places(book: Book) -> list[tuple[str, str]]:
    """Place and reference of every citation, as docs/tensor.md:486, in the order of pages and lines."""
    cited = [(page, *found) for page in book.pages for found in references(page.text, page.fences)]
    return [(f"{page.name}:{line}", reference) for page, line, reference in cited]


def row(proofs: Proofs, reference: str) -> Row:
    """What a reference resolves to, or the `failure` to."""
    try:
        return asdict(proofs.citation(reference))
    except UnprovenError as error:
        return {"failure": str(error)}


def rows(build: Build) -> dict[str, Row]:
    """What every citation of a book resolves to, by reference."""
    return {reference: row(build.proofs, reference) for _, reference in places(build.book)}


def where(found: Row) -> str:
    """A row as proof and place, or as its failure."""
    if "failure" in found:
        return f"not proven: {found['failure']}"
    line = f":{found['line']}" if found["line"] else ""
    return f"{found['proof']:18} {found['path']}{line}"


def changes(before: dict[str, Row], now: dict[str, Row]) -> list[str]:
    """What became of each reference that both lists have: vanished, moved, or another text in its place."""
    said = []
    for reference in sorted(before.keys() & now.keys()):
        old, new = before[reference], now[reference]
        if "failure" in new and "failure" not in old:
            said.append(f"vanished  src:{reference}\n          {where(old)}\n          {where(new)}")
        elif where(old) != where(new):
            said.append(f"moved     src:{reference}\n          {where(old)}\n          {where(new)}")
        elif old.get("text") != new.get("text"):
            said.append(f"changed   src:{reference}\n          {old.get('text')}\n          {new.get('text')}")
    return said


def named(edition: Edition) -> str:
    return f"torch {edition.version} ({edition.commit:.10})"


def main() -> int:
    """Print the list or the comparison; 1 when a citation is not proven."""
    parser = argparse.ArgumentParser(prog="python -m inside_torch.tools.citations", description=__doc__)
    parser.add_argument("python", nargs="?", help="an interpreter that imports another torch")
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep the list as JSON")
    options = parser.parse_args()
    build = Build(Edition())
    found = rows(build)
    if options.save:
        kept = {"torch": named(build.edition), "citations": found}
        options.save.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    if options.python:
        other = Build(Edition(options.python))
        said = changes(found, now := rows(other))
        head = f"{named(build.edition)} -> {named(other.edition)}: {len(said)} of {len(now)} citations differ"
        print(head, *said, sep="\n")
        return int(any("failure" in one for one in now.values()))
    width = max((len(place) for place, _ in places(build.book)), default=0)
    for place, reference in places(build.book):
        print(f"{place:{width}}  {where(found[reference])}  src:{reference}")
    return int(any("failure" in one for one in found.values()))


if __name__ == "__main__":
    sys.exit(main())
