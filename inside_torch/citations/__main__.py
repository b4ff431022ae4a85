"""`make citations`: every citation of the book, what proves it, and where it leads.

`python -m inside_torch.citations PYTHON` says what becomes of them with the torch that PYTHON imports: which moved,
which vanished. --save keeps the list, and --against compares with a kept one, where the torches have no common home.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from inside_torch import citations, render
from inside_torch.citations.proof import UnprovenError
from inside_torch.edition import ROOT, torch_version

Row = dict[str, str | int | None]


def cited() -> list[tuple[str, str]]:
    """Place and reference of every citation, as docs/tensor.md:486, in the order of pages and lines."""
    paths = sorted(path for suffix in ("md", "py") for path in (ROOT / "docs").rglob(f"*.{suffix}"))
    return [
        (f"{path.relative_to(ROOT).as_posix()}:{line}", reference)
        for path in paths
        for line, reference in citations.references(path.read_text(encoding="utf-8-sig"))
    ]


def row(reference: str) -> Row:
    """What a reference resolves to, or the `failure` to."""
    try:
        return asdict(citations.citation(reference))
    except UnprovenError as error:
        return {"failure": str(error)}


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


def under(python: str, kept: Path) -> int:
    """Compare with `kept` under the torch of another interpreter; the exit status of that."""
    command = [sys.executable, "-m", "inside_torch.citations", "--against", str(kept)]
    return subprocess.run(command, cwd=ROOT, env=os.environ | {"INSIDE_TORCH_PYTHON": python}).returncode


def main() -> int:
    """Print the list or the comparison; 1 when a citation is not proven."""
    parser = argparse.ArgumentParser(prog="python -m inside_torch.citations", description=__doc__)
    parser.add_argument("python", nargs="?", help="an interpreter that imports another torch")
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep the list as JSON")
    parser.add_argument("--against", type=Path, metavar="FILE", help="say what differs from a kept list")
    options = parser.parse_args()
    places = cited()
    try:
        rows = {reference: row(reference) for _, reference in places}
    finally:
        render.blocks().close()
    torch = "torch {} ({:.10})".format(*torch_version())
    kept = json.dumps({"torch": torch, "citations": rows}, indent=1, sort_keys=True) + "\n"
    if options.python:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "citations.json")
            file.write_text(kept, encoding="utf-8")
            return under(options.python, file)
    if options.save:
        options.save.write_text(kept, encoding="utf-8")
    if options.against:
        before = json.loads(options.against.read_text(encoding="utf-8"))
        said = changes(before["citations"], rows)
        print(f"{before['torch']} -> {torch}: {len(said)} of {len(rows)} citations differ", *said, sep="\n")
    else:
        width = max((len(place) for place, _ in places), default=0)
        for place, reference in places:
            print(f"{place:{width}}  {where(rows[reference])}  src:{reference}")
    return int(any("failure" in found for found in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
