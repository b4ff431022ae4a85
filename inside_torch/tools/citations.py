"""`make citations`: every citation of the book, what proves it, and where it leads.

`python -m inside_torch.tools.citations PYTHON` says what becomes of them with the torch that PYTHON imports: which
moved, which vanished.
"""

import sys
from dataclasses import asdict

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


def changes(before: dict[str, Row], now: dict[str, Row]) -> dict[str, str]:
    """What became of each reference that both lists have: vanished, moved, or another text in its place."""
    said = {}
    for reference in sorted(before.keys() & now.keys()):
        old, new = before[reference], now[reference]
        if "failure" in new and "failure" not in old:
            said[reference] = f"vanished  src:{reference}\n          {where(old)}\n          {where(new)}"
        elif where(old) != where(new):
            said[reference] = f"moved     src:{reference}\n          {where(old)}\n          {where(new)}"
        elif old.get("text") != new.get("text"):
            said[reference] = f"changed   src:{reference}\n          {old.get('text')}\n          {new.get('text')}"
    return said


def named(edition: Edition) -> str:
    return f"torch {edition.version} ({edition.commit:.10})"


def main(python: str = "") -> int:
    """Print the list, or with another interpreter the comparison; 1 when a citation is not proven."""
    build = Build(Edition())
    found = rows(build)
    if python:
        other = Build(Edition(python))
        before, found = found, rows(other)
        said = changes(before, found)
        head = f"{named(build.edition)} -> {named(other.edition)}: {len(said)} of {len(found)} citations differ"
        print(head, *said.values(), sep="\n")
    else:
        listed = places(build.book)
        width = max((len(place) for place, _ in listed), default=0)
        for place, reference in listed:
            print(f"{place:{width}}  {where(found[reference])}  src:{reference}")
    return int(any("failure" in one for one in found.values()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
