"""`make drift`: what another torch changes, as one report, page by page.

`python -m inside_torch.tools.drift [PYTHON [CACHE]]` runs the book as `make compare` does, and keeps nothing. Without
PYTHON it is the book's own torch, whose outputs the build may have already. The report is Markdown on standard output.
"""

import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from inside_torch.approved import FAILS
from inside_torch.edition import ROOT, Edition
from inside_torch.fences import fenced
from inside_torch.others import Difference
from inside_torch.tools.citations import named, places
from inside_torch.tools.compare import Found, run

KINDS = ("failing", "deprecations", "citations moved or gone", "outputs changed")


def kind(one: Difference) -> str:
    """Which part of a page's report a difference belongs to."""
    if not one.fails:
        return "outputs changed"
    return "deprecations" if re.search(r"(Deprecation|Future)Warning", one.now.rpartition(FAILS)[2]) else "failing"


def as_markdown(found: Found) -> str:
    """The whole report: each page's findings by kind."""
    pages: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for one in found.differences:
        page = found.build.book.page(one.src).name
        pages[page][kind(one)].append("\n".join([f"{page}:{one.line}: {one.source}", *one.diff]))
    for place, one in places(found.build.book):
        if one in found.citations:
            pages[place.partition(":")[0]][KINDS[2]].append(f"{place}: the citation {found.citations[one]}")
    parts = [f"# The book under {named(found.build.edition)}"] + ["Nothing changed."] * (not pages)
    for page, kinds in sorted(pages.items()):
        parts.append(f"## {page}")
        for name in (name for name in KINDS if name in kinds):
            parts += [f"### {name}: {len(kinds[name])}", *(fenced(said, "text") for said in kinds[name])]
    return "\n\n".join(parts)


def main(python: str = sys.executable, cache: str = "") -> None:
    """Run the book, and report. Of another torch nothing is remembered, unless in a folder `cache`."""
    with tempfile.TemporaryDirectory() as folder:
        edition = Edition() if python == sys.executable else Edition(python, Path(cache or folder))
        print(as_markdown(run(edition, ROOT)))


if __name__ == "__main__":
    main(*sys.argv[1:3])
