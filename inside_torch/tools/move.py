"""`make edition TORCH=2.14.1`: turn the book to a torch that is recorded, without running anything.

The pin in pyproject.toml becomes the new torch; what was recorded of it is approved, and what was approved becomes the
record of the torch that was the edition. The records of other torches are compared anew, and each sentence is kept
where it still has a difference. Then `make approve` runs the book, and `make compare` the other torches.
"""

import json
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import yaml

from inside_torch.approved import CITATIONS, Shown, as_text, before
from inside_torch.build import Build
from inside_torch.edition import ROOT, Edition
from inside_torch.others import WHY, Difference, Others, Reason, keys
from inside_torch.tools.compare import visible_line, write

Outputs = dict[tuple[str, str], str]  # what a torch prints, by `src` and key


def opening(others: Others) -> Outputs:
    """The visible line of each thing that pages show, by `src` and key."""
    found = {}
    for page in others.pages.values():
        found |= {(page.src, key): one.source for key, one in zip(keys(page), before(page, others.folder))}
        found |= {(page.src, key): visible_line(one.program) for key, one in zip(keys(page), page.running)}
    return found


def printed(others: Others) -> dict[str, Outputs]:
    """What the edition, under the name "", and each recorded torch prints of everything in the book."""
    pages = others.pages.values()
    now = {(page.src, k): s.output for page in pages for k, s in zip(keys(page), before(page, others.folder))}
    found = {"": now} | {name: dict(now) for name in others.torches}
    for one in others.differences:
        found[one.torch][one.src, one.key] = one.now
    return found


def turned(reason: Reason, new: str, old: str, differ: dict[str, set[tuple[str, str]]]) -> Reason:
    """A sentence with the torches that differ from the new edition for its reason: those that it did not name, when it
    named the new edition, and else those that it named."""
    blocks = {(src, key) for src, found in reason.blocks.items() for key in found}
    names = {*differ} - set(reason.torches) if new in reason.torches else set(reason.torches) & {*differ}
    names = {name for name in names if differ[name] & blocks}
    kept = blocks & set().union(*(differ[name] for name in names))
    by_page = {src: [key for key in found if (src, key) in kept] for src, found in reason.blocks.items()}
    torches = tuple(sorted(names, key=lambda name: (name != old, name)))
    return replace(reason, torches=torches, blocks={src: found for src, found in by_page.items() if found})


def rest(reasons: list[Reason], before: list[Reason], differ: dict[str, set[tuple[str, str]]]) -> list[Reason]:
    """The sentences, and for what none of them explains those that did so before: line numbers, say, are others on
    each torch."""
    found = list(reasons)
    for name, (src, key) in ((name, one) for name, some in differ.items() for one in sorted(some)):
        one = Difference(name, src, key, "", 0, "", "")
        if any(reason.covers(one) for reason in found):
            continue
        for number, reason in enumerate(before):
            if reason.covers(one):
                now = found[number]
                blocks = now.blocks | {src: [*dict.fromkeys([*now.blocks.get(src, ()), key])]}
                torches = tuple(dict.fromkeys([*now.torches, name]))
                found[number] = replace(now, torches=torches, blocks=blocks)
    return found


def save_reasons(file: Path, reasons: list[Reason]) -> None:
    """Write the sentences, each with the torches and blocks it is about, below the remark that the file begins with."""
    rows = [
        {name: list(value) if isinstance(value, tuple) else value for name, value in vars(one).items() if value}
        for one in reasons
        if one.torches
    ]
    remark = "".join(line for line in file.read_text("utf-8").splitlines(keepends=True) if line.startswith("#"))
    file.write_text(remark + yaml.safe_dump(rows, sort_keys=False, allow_unicode=True, width=110), encoding="utf-8")


def move(root: Path, new: str) -> None:
    """Make a recorded torch the edition of the book of `root`. Raises KeyError for one that is not recorded, and
    ValueError for records that do not fit the book."""
    others = Build(Edition(), root).others
    if others.problems:
        raise ValueError("\n".join(f"docs/{src}:{line}: {text}" for src, line, text in others.problems))
    pin = re.compile(r'(?<="torch==)[^"]+|(?<=^version = ")[^"]+', re.M)
    project, settled = root / "pyproject.toml", others.torches[new]
    text = project.read_text("utf-8")
    old = pin.search(text)[0]
    outputs, sources = printed(others), opening(others)
    was, now = outputs.pop(""), outputs.pop(new)
    approved = json.loads((others.folder / CITATIONS).read_text("utf-8"))["torch"]
    outputs[old] = was
    differ = {name: {key for key in now if found[key] != now[key]} for name, found in outputs.items()}
    metas = others.torches | {old: settled | {"torch": approved.split()[1], "commit": approved.split("(")[1][:-1]}}
    for page in others.pages.values():
        if shown := before(page, others.folder):
            rows = [Shown(one.source, now[page.src, key]) for key, one in zip(keys(page), shown)]
            (others.folder / f"{page.src}.txt").write_text(as_text(rows), encoding="utf-8")
    for name, found in outputs.items():
        records = {src: [] for src in others.pages}
        for src, key in (one for one in sources if one in differ[name]):
            records[src].append(Shown(f"{key} {sources[src, key]}", found[src, key]))
        write(others.folder / f"torch-{name}", records, metas[name])
    shutil.rmtree(others.folder / f"torch-{new}")
    reasons = [turned(one, new, old, differ) for one in others.reasons]
    save_reasons(others.folder / WHY, rest(reasons, others.reasons, differ))
    project.write_text(pin.sub(new, text), encoding="utf-8")


if __name__ == "__main__":
    move(ROOT, *sys.argv[1:2])
