"""`make page PAGE=docs/x.md`: everything that is wrong with one page, in seconds; only its own blocks run.

The status is 1 when something is, and 2 when there is no such page.
"""

import sys

from inside_torch.build import Build
from inside_torch.edition import Edition
from inside_torch.failures import all_told, told
from inside_torch.rules import broken


def main(name: str = "") -> int:
    """Say what stops the build and what breaks a rule on the page `name`, each with its line."""
    build = Build(Edition())
    page = next((page for page in build.book.pages if page.name == name), None)
    if not page:
        print(f"there is no page `{name}`; there are", *(page.name for page in build.book.pages), sep="\n  ")
        return 2
    build.check_sources([page])
    said = [*all_told([page]), *(told(problem, page.name) for problem in broken(page, build))]
    print(*said or [f"{name}: nothing is wrong"], sep="\n")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
