"""`make page PAGE=docs/x.md`: everything that is wrong with one page, in seconds; only its own blocks run.

The status is 1 when something is, and 2 when there is no such page.
"""

from __future__ import annotations

import sys

from inside_torch.book import Page
from inside_torch.build import Build
from inside_torch.edition import Edition
from inside_torch.failures import told
from inside_torch.rules import broken


def wrong_with(page: Page, build: Build) -> list[str]:
    """What stops the build and what breaks a rule, each with its line."""
    build.start([page])
    build.check_sources([page])
    problems = [*sorted(page.problems, key=lambda problem: problem.line), *broken(page, build)]
    return [told(problem, page.name) for problem in problems]


def main(name: str = "") -> int:
    """Say what is wrong with the page `name`."""
    build = Build(Edition())
    pages = {page.name: page for page in build.book.pages}
    if name not in pages:
        print(f"there is no page `{name}`; there are", *pages, sep="\n  ")
        return 2
    said = wrong_with(pages[name], build)
    build.close()
    print(*said or [f"{name}: nothing is wrong"], sep="\n")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
