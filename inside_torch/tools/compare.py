"""`make compare TORCH_PYTHON=...`: record what the book prints with another torch, or on another Python, and report it.

What differs from what is approved is kept in tests/approved/torch-VERSION/; each difference then needs its sentence in
tests/approved/why.yaml. Without an interpreter, records of blocks that the book no longer has are dropped. The report
is Markdown on standard output; it begins with the differences that have no sentence yet.
"""

import json
import platform
import sys
import tempfile
from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from inside_torch.approved import CITATIONS, Shown, as_shown, as_text, shown
from inside_torch.book import Page
from inside_torch.build import Build
from inside_torch.edition import ROOT, Edition
from inside_torch.fences import folded
from inside_torch.history import book_commit
from inside_torch.others import META, Difference, Others, keys, seal
from inside_torch.render import changes
from inside_torch.tools.citations import changes as citation_changes
from inside_torch.tools.citations import places, rows


def visible_line(program: str) -> str:
    """The first line of a program that is not folded away."""
    return next((line.strip() for line in program.split("\n")[folded(program) :] if line.strip()), "")


def differing(page: Page, build: Build, others: Others) -> list[Difference]:
    """What of a page differs from what is approved. Raises ValueError for a page that is not approved as it is."""
    torch, known = name_of(build.edition), others.current(page.src)
    now = dict(zip(keys(page), shown(page, build, visible_line), strict=True))  # a block that stands twice differs once
    found = [Difference(torch, page.src, key, one.source, *known[key], one.output) for key, one in now.items()]
    return [one for one in found if one.was != one.now]


def name_of(edition: Edition) -> str:
    """The name of a record: a torch, and the Python where it is not this one's."""
    python = ".".join(edition.python_name.split()[1].split(".")[:2])
    return edition.release + (f"-python-{python}" if python != f"3.{sys.version_info[1]}" else "")


def write(folder: Path, records: dict[str, list[Shown]], meta: dict) -> None:
    """Keep records by `src`, instead of those that were there, with their seal."""
    for file in folder.rglob("*.txt"):
        file.unlink()
    for src, found in records.items():
        if found:
            (folder / f"{src}.txt").parent.mkdir(parents=True, exist_ok=True)
            (folder / f"{src}.txt").write_text(as_text(found), encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / META).write_text(json.dumps(meta | {"seal": seal(folder)}, indent=1) + "\n", encoding="utf-8")


class Found(NamedTuple):
    """What another edition changes: the blocks that differ, and by reference what became of approved citations."""

    build: Build
    differences: list[Difference]
    citations: dict[str, str]


def run(edition: Edition, root: Path) -> Found:
    """Run the book of `root` with another edition. Raises as `differing` does."""
    build = Build(edition, root)
    build.check_sources()
    differences = [one for page in build.book.pages for one in differing(page, build, build.others)]
    was = json.loads((build.others.folder / CITATIONS).read_text("utf-8"))["citations"]
    return Found(build, differences, citation_changes(was, rows(build)))


def record(edition: Edition, root: Path) -> str:
    """Run the book of `root` with another edition, and keep what differs; returns the record's name."""
    build, differences, cited = run(edition, root)
    records: dict[str, list[Shown]] = defaultdict(list)
    for one in differences:
        records[one.src].append(Shown(f"{one.key} {one.source}", one.now))
    kinds, cites = Counter(said.split()[0] for said in cited.values()), len({one for _, one in places(build.book)})
    meta = {
        "torch": edition.version,
        "commit": edition.commit,
        "python": edition.python_name,
        "machine": f"{platform.machine()} {platform.system()}",
        "recorded": f"{datetime.now(UTC):%Y-%m-%d}",
        "book": (book_commit() or ("",))[0][:10],
        "blocks": sum(len(set(keys(page))) for page in build.book.pages),
        "citations": {"all": cites, "moved": kinds["moved"], "changed": kinds["changed"]},
        "gone": sorted(one for one, said in cited.items() if said.startswith("vanished")),
    }
    write(build.others.folder / f"torch-{name_of(edition)}", records, meta)
    return name_of(edition)


def prune(root: Path) -> None:
    """Drop what was recorded of blocks that the book no longer has. Raises ValueError for a doctored record."""
    build = Build(Edition(), root)
    for name, meta in build.others.torches.items():
        folder = build.others.folder / f"torch-{name}"
        if seal(folder) != meta["seal"]:
            raise ValueError(f"{folder} is not as it was recorded")
        records = {file.removesuffix(".txt"): as_shown((folder / file).read_text("utf-8")) for file in meta["seal"]}
        gone = {(src, key) for torch, src, key in build.others.stale if torch == name}
        kept = {s: [one for one in found if (s, one.source.split()[0]) not in gone] for s, found in records.items()}
        write(folder, kept, meta)


def main(python: str = "", cache: str = "") -> None:
    """Record with the torch of `python`, and report. Another torch may be changed where it lies, by whoever works on
    it: of that one nothing is remembered, unless in a folder `cache`."""
    if not python:
        return prune(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        name = record(Edition(python, Path(cache or folder)), ROOT)
    print(changes.report(Others(ROOT, Build(Edition()).book.pages), name))


if __name__ == "__main__":
    main(*sys.argv[1:3])
