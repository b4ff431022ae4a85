"""`make drift`: the book under another torch, as one report, page by page.

`python -m inside_torch.tools.drift [PYTHON]` runs every block with the torch that PYTHON imports and compares it with
what is approved. Without PYTHON it is the book's own torch, whose outputs the build may have already. It reports and
fails nothing; the report is Markdown on standard output.
"""

import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from inside_torch.build import Build
from inside_torch.edition import ROOT, Edition
from inside_torch.failures import all_told
from inside_torch.tools.approve import CITATIONS, all_differences, shown_by
from inside_torch.tools.citations import changes, places, rows

KINDS = {
    "deprecations": re.compile(r"DeprecationWarning|FutureWarning"),
    "citations moved or gone": re.compile(r"\bcitation\b"),
    "outputs changed": re.compile(r"^docs/[^\n]*(?:the output changed|not approved yet|no longer there)"),
}
PLACE = re.compile(r"docs/[^:]+:\d+")


def kind(report: str) -> str:
    """Which of the four parts of a page's report a finding belongs to."""
    return next((name for name, pattern in KINDS.items() if pattern.search(report)), "failing")


def as_markdown(reports: Iterable[str], version: str, commit: str) -> str:
    """The whole report: a count, then each page's findings by kind."""
    pages: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for report in reports:
        page = re.match(r"docs/[\w./-]+", report)
        pages[page[0] if page else "the book"][kind(report)].append(report)
    parts = [f"# The book under torch {version} ({commit[:10]})"]
    if not pages:
        parts.append("Nothing changed.")
    for page, kinds in sorted(pages.items()):
        parts.append(f"## {page}")
        for name in ("failing", *KINDS):
            if found := kinds.get(name):
                parts.append(f"### {name}: {len(found)}")
                parts += [f"~~~~text\n{report}\n~~~~" for report in found]
    return "\n\n".join(parts) + "\n"


def moved_citations(build: Build, approved: Path) -> list[str]:
    """What became of the approved citations: one report for each place in the book that has one."""
    now = rows(build)
    moved = changes(json.loads((approved / CITATIONS).read_text(encoding="utf-8"))["citations"], now)
    cited = [(place, one) for place, one in places(build.book) if one in moved]
    return [f"{place}: the citation {moved[one]}" for place, one in cited if "failure" not in now[one]]  # reported


def drift(python: str = sys.executable, root: Path = ROOT) -> str:
    """Run the book of `root` with the torch of `python`, and report what differs from what is approved."""
    approved = root / "tests" / "approved"
    with tempfile.TemporaryDirectory() as folder:
        # Another torch may be changed where it lies, by whoever works on it: of that one nothing is remembered.
        edition = Edition() if python == sys.executable else Edition(python, Path(folder))
        build = Build(edition, root)
        build.check_sources()
        failed = all_told(build.book.pages)
        lines = {found[0] for report in failed if (found := PLACE.match(report))}
        differ = all_differences(shown_by(build), build.book, approved)
        changed = [report for report in differ if report.split(": ")[0] not in lines]
        moved = moved_citations(build, approved)
    return as_markdown([*failed, *moved, *changed], edition.version, edition.commit)


if __name__ == "__main__":
    print(drift(*sys.argv[1:2]))
