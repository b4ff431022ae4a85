"""`make drift`: the book under another torch, as one report, page by page.

`python -m inside_torch.tools.drift [PYTHON]` runs every block with the torch that PYTHON imports and compares it with
what is approved. Without PYTHON it is the book's own torch, whose outputs the build may have already. It reports and
fails nothing; the report is Markdown on standard output.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from mkdocs.commands.build import build as build_site
from mkdocs.config import load_config

from inside_torch.build import Build
from inside_torch.edition import ROOT, Edition
from inside_torch.failures import all_told
from inside_torch.tools.approve import CITATIONS, all_differences
from inside_torch.tools.citations import changes, places, row

KINDS = {
    "deprecations": re.compile(r"DeprecationWarning|FutureWarning"),
    "citations moved or gone": re.compile(r"\bcitation\b"),
    "outputs changed": re.compile(r"^docs/[^\n]*(?:the output changed|not approved yet|no longer there)"),
}
ORDER = ["failing", "deprecations", "citations moved or gone", "outputs changed"]
PLACE = re.compile(r"docs/[^:]+:\d+")


def kind(report: str) -> str:
    """Which of the four parts of a page's report a finding belongs to."""
    return next((name for name, pattern in KINDS.items() if pattern.search(report)), "failing")


def built(edition: Edition, root: Path, site: Path) -> Build:
    """The book built into `site`, with failures shown on its pages."""
    build = Build(edition, root)
    config = load_config(str(root / "mkdocs.yml"), site_dir=str(site), strict=False)
    config.extra["build"] = build
    config.plugins.on_startup(command="build", dirty=False)
    build_site(config)
    return build


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
        for name in ORDER:
            if found := kinds.get(name):
                parts.append(f"### {name}: {len(found)}")
                parts += [f"~~~~text\n{report}\n~~~~" for report in found]
    return "\n\n".join(parts) + "\n"


def moved_citations(build: Build, approved: Path) -> list[str]:
    """What became of the approved citations: one report for each place in the book that has one."""
    before = json.loads((approved / CITATIONS).read_text(encoding="utf-8"))["citations"]
    now = {reference: row(build.proofs, reference) for _, reference in places(build.book)}
    return [
        f"{place}: the citation {change}"
        for place, reference in places(build.book)
        if "failure" not in now[reference]  # those the build has reported
        for change in changes({reference: before.get(reference, now[reference])}, now)
    ]


def drift(python: str = sys.executable, root: Path = ROOT) -> str:
    """Build the book of `root` with the torch of `python`, and report what differs from what is approved."""
    approved = root / "tests" / "approved"
    with tempfile.TemporaryDirectory() as folder:
        # Another torch may be changed where it lies, by whoever works on it: of that one nothing is remembered.
        edition = Edition() if python == sys.executable else Edition(python, Path(folder, "cache"))
        build = built(edition, root, Path(folder, "site"))
        failed = all_told(build.book)
        places = {found[0] for report in failed if (found := PLACE.match(report))}
        changed = [
            r for r in all_differences(Path(folder, "site"), build.book, approved) if r.split(": ")[0] not in places
        ]
        moved = moved_citations(build, approved)
        build.close()
    return as_markdown([*failed, *moved, *changed], edition.version, edition.commit)


if __name__ == "__main__":
    print(drift(*sys.argv[1:2]))
