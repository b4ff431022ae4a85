"""`make drift`: the book under another torch, as one report, page by page.

`python -m inside_torch.drift [PYTHON]` runs every block with the torch that PYTHON imports and compares with what is
approved. Without PYTHON it is the book's own torch, whose outputs the build may have already. It reports and fails
nothing; the report is Markdown on standard output.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from inside_torch import edition, render
from inside_torch.approved import CITATIONS, FOLDER, all_differences
from inside_torch.citations.__main__ import changes, cited, row

REPORT = re.compile(r"^ERROR +- +(docs/.*?)(?=^(?:ERROR|WARNING|INFO) +- |\Z)", re.M | re.S)
KINDS = {
    "deprecations": re.compile(r"DeprecationWarning|FutureWarning"),
    "citations moved or gone": re.compile(r"\bcitation\b"),
    "outputs changed": re.compile(r"^docs/[^\n]*(?:the output changed|not approved yet|no longer there)"),
}
ORDER = ["failing", "deprecations", "citations moved or gone", "outputs changed"]


def kind(report: str) -> str:
    """Which of the four parts of a page's report a finding belongs to."""
    return next((name for name, pattern in KINDS.items() if pattern.search(report)), "failing")


def build(folder: Path) -> list[str]:
    """Build the book with failures shown on its pages; returns the reports of what failed."""
    # Another torch may be changed where it lies, by whoever works on it: of that one nothing is remembered.
    cache = edition.CACHE if sys.executable == edition.PYTHON else folder / "cache"
    environment = os.environ | {"INSIDE_TORCH_CACHE": str(cache), "INSIDE_TORCH_DRIFT": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--no-strict", "--site-dir", str(folder / "site")]
    built = subprocess.run(command, cwd=edition.ROOT, env=environment, capture_output=True, text=True)
    if built.returncode:
        raise RuntimeError(f"the book cannot be built at all:\n{built.stderr}")
    return [report.rstrip() for report in REPORT.findall(built.stderr)]


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


def moved_citations(approved: Path) -> list[str]:
    """What became of the approved citations: one report for each place in the book that has one."""
    before = json.loads((approved / CITATIONS).read_text(encoding="utf-8"))["citations"]
    places = cited()
    now = {reference: row(reference) for _, reference in places}
    return [
        f"{place}: the citation {change}"
        for place, reference in places
        if "failure" not in now[reference]  # those the build has reported
        for change in changes({reference: before.get(reference, now[reference])}, now)
    ]


def drift(approved: Path = FOLDER) -> str:
    """Build with the torch of edition.PYTHON and report what differs from `approved`."""
    with tempfile.TemporaryDirectory() as folder:
        failed = build(Path(folder))
        places = {re.match(r"docs/[^:]+:\d+", report)[0] for report in failed if re.match(r"docs/[^:]+:\d+", report)}
        changed = [r for r in all_differences(Path(folder) / "site", approved) if r.split(": ")[0] not in places]
    return as_markdown([*failed, *moved_citations(approved), *changed], *edition.torch_version())


def main() -> None:
    if len(sys.argv) > 1 and os.environ.get("INSIDE_TORCH_PYTHON") != sys.argv[1]:
        environment = os.environ | {"INSIDE_TORCH_PYTHON": sys.argv[1]}
        sys.exit(subprocess.run([sys.executable, "-m", "inside_torch.drift", sys.argv[1]], env=environment).returncode)
    try:
        print(drift())
    finally:
        render.blocks().close()


if __name__ == "__main__":
    main()
