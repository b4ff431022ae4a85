"""`make compare TORCH_PYTHON=...`: record what the book prints with another torch, or on another Python, and report it.

What differs from what is approved is kept in tests/approved/torch-VERSION/; each difference then needs its sentence in
tests/approved/why.yaml. Without an interpreter, records of blocks that the book no longer has are dropped. The report
is Markdown on standard output; it begins with the differences that have no sentence yet.
"""

import json
import platform
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from inside_torch.approved import CITATIONS, Shown, as_shown, as_text, before, drawn
from inside_torch.book import Page
from inside_torch.build import Build
from inside_torch.edition import ROOT, Edition
from inside_torch.fences import folded
from inside_torch.history import book_commit
from inside_torch.others import FAILS, META, Others, keys, seal
from inside_torch.render import changes, notebook, ten_lines
from inside_torch.run.blocks import Result
from inside_torch.run.normal import normalised
from inside_torch.tools.citations import changes as citation_changes
from inside_torch.tools.citations import rows


def told(result: Result) -> str:
    """What a program printed, and if it failed, why, as a last line."""
    *_, last = result.stderr.strip().split("\n")
    said = f"its subprocess ends with {last}" if "Traceback" in result.failure else result.failure
    why = f"{FAILS}{normalised(said)}" if result.failed else ""
    return "\n".join(filter(None, [normalised(result.output).strip("\n"), why]))


def visible_line(program: str) -> str:
    """The first line of a program that is not folded away."""
    return next((line.strip() for line in program.split("\n")[folded(program) :] if line.strip()), "")


def shows(page: Page, build: Build) -> Iterator[Shown]:
    """What a page shows, in the order of `others.keys`, with what failed."""
    whole = build.blocks.result(build.whole(page)) if build.whole(page) else None
    if page.kind == "notebook":
        cells, printed = notebook.cells(page.text), [one.strip("\n") for one in notebook.outputs(whole.output)]
        printed[-1:] = [told(Result(printed[-1], whole.failure))] if printed else []
        yield from (Shown(visible_line(cell), said) for cell, said in zip(cells, printed + [""] * len(cells)))
    for fence, result in ((fence, build.result(fence)) for fence in page.running):
        if fence.info == "figure" and result.output.startswith("<svg"):  # one that only warned can be described, too
            figure = drawn(result.output)
            yield Shown(figure.source, told(replace(result, output=figure.output)))
        else:
            yield Shown(visible_line(fence.program), told(result))
    if whole and ten_lines.HERO in page.text:
        yield Shown(ten_lines.TITLE, told(whole) if whole.failed else ten_lines.plain(whole.output))


def differing(page: Page, build: Build, approved: Path) -> list[Shown]:
    """What of a page differs from what is approved, under the names of its blocks. Raises ValueError for a page that
    is not approved as it is."""
    names, old, new = keys(page), before(page, approved), list(shows(page, build))
    if not len(names) == len(old) == len(new):
        raise ValueError(f"{page.name} is not approved as it is: make approve")
    rows = dict(zip(names, zip(old, new)))  # a block that stands twice on a page differs once
    return [
        Shown(f"{name} {now.source}", now.output.strip("\n"))
        for name, (was, now) in rows.items()
        if was.output.strip("\n") != now.output.strip("\n")
    ]


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


def record(edition: Edition, root: Path) -> str:
    """Run the book of `root` with another edition, and keep what differs; returns the record's name."""
    build, approved = Build(edition, root), root / "tests" / "approved"
    build.check_sources()
    records = {page.src: differing(page, build, approved) for page in build.book.pages}
    was, now = json.loads((approved / CITATIONS).read_text("utf-8"))["citations"], rows(build)
    moved = citation_changes(was, now)
    kinds = Counter(said.split()[0] for said in moved.values())
    meta = {
        "torch": edition.version,
        "commit": edition.commit,
        "python": edition.python_name,
        "machine": f"{platform.machine()} {platform.system()}",
        "recorded": f"{datetime.now(UTC):%Y-%m-%d}",
        "book": (book_commit() or ("",))[0][:10],
        "blocks": sum(len(set(keys(page))) for page in build.book.pages),
        "citations": {"all": len(was), "moved": kinds["moved"], "changed": kinds["changed"]},
        "gone": sorted(one for one, said in moved.items() if said.startswith("vanished")),
    }
    write(approved / f"torch-{name_of(edition)}", records, meta)
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
