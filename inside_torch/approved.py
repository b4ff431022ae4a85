"""What is approved: tests/approved/PAGE.txt holds what a reader of the page sees under each block."""

from __future__ import annotations

import difflib
import json
import platform
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from inside_torch.book import Page
from inside_torch.render import notebook, ten_lines
from inside_torch.render.figures import SVG
from inside_torch.run.blocks import Result
from inside_torch.run.normal import normalised

if TYPE_CHECKING:  # the build reads what is approved of other torches
    from inside_torch.build import Build

CITATIONS = "citations.json"
FAILS = "[fails] "  # begins the line that says why a block cannot be shown


@dataclass(frozen=True)
class Shown:
    """One block, figure or cell of a page: a line of its source that tells it from others, and what it shows."""

    source: str
    output: str


def telling_line(source: str) -> str:
    """The first line of a program that is no import."""
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    return next((line for line in lines if not re.match(r"(?:import|from|#)\b", line)), lines[0] if lines else "")


def drawn(output: str) -> Shown:
    """A figure by its title, with its description and its data."""
    svg = ElementTree.fromstring(output)
    title, described, metadata = (svg.find(SVG + part).text for part in ("title", "desc", "metadata"))
    data = json.loads(metadata)
    rows = [" | ".join(map(str, row)) for row in (data["columns"], *data["rows"])]
    return Shown(f"figure: {title.strip()}", "\n".join([described, *rows]))


def printed(result: Result) -> str:
    """What a program printed, and if it failed, why, as a last line."""
    *_, last = result.stderr.strip().split("\n")
    said = f"its subprocess ends with {last}" if "Traceback" in result.failure else result.failure
    why = f"{FAILS}{normalised(said)}" if result.failed else ""
    return "\n".join(filter(None, [normalised(result.output).strip("\n"), why]))


def shown(page: Page, build: Build, line: Callable[[str], str] = telling_line) -> Iterator[Shown]:
    """What a page shows, in the order of `others.keys`, with what failed; of a program its `line`."""
    whole = build.blocks.result(build.whole(page)) if build.whole(page) else None
    if page.kind == "notebook":
        cells, outputs = notebook.cells(page.text), [one.strip("\n") for one in notebook.outputs(whole.output)]
        outputs[-1:] = [printed(Result(outputs[-1], whole.failure))] if outputs else []
        yield from (Shown(line(cell), said) for cell, said in zip(cells, outputs + [""] * len(cells)))
    for fence, result in ((fence, build.result(fence)) for fence in page.running):
        if fence.info == "figure" and result.output.startswith("<svg"):  # one that only warned can be described, too
            figure = drawn(result.output)
            yield Shown(figure.source, printed(replace(result, output=figure.output)))
        else:
            yield Shown(line(fence.program), printed(result))
    if whole and ten_lines.HERO in page.text:
        yield Shown(ten_lines.TITLE, printed(whole) if whole.failed else ten_lines.plain(whole.output))


def as_text(shown: list[Shown]) -> str:
    """The content of an approved file."""
    parts = []
    for item in shown:
        body = "".join(f"    {line}\n" if line else "\n" for line in item.output.rstrip("\n").splitlines())
        parts.append(f"{item.source}\n{body}")
    return "\n".join(parts)


def as_shown(text: str) -> list[Shown]:
    """The blocks of an approved file: a line at the margin begins one, its output is indented."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line and not line.startswith("    "):
            found.append((line, []))
        elif found:
            found[-1][1].append(line.removeprefix("    "))
    return [Shown(source, "\n".join(lines).strip("\n")) for source, lines in found]


def files(folder: Path) -> dict[str, Path]:
    """The approved files by the `src` of their page; not the records of other torches, in folders of their own."""
    found = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*.txt")}
    return {name.removesuffix(".txt"): file for name, file in found.items() if not name.startswith("torch-")}


def before(page: Page, folder: Path) -> list[Shown]:
    """What was approved of a page."""
    file = folder / f"{page.src}.txt"
    return as_shown(file.read_text("utf-8")) if file.exists() else []


def line_of(page: Page, number: int) -> int:
    """The line of a page's block or cell, counted from 0."""
    if page.fences:
        return page.running[number].line if number < len(page.running) else 1
    cells = [cell.start() for cell in notebook.CELL.finditer(page.text)]
    return page.text.count("\n", 0, cells[number]) + 1


def differences(page: Page, before: list[Shown], now: list[Shown]) -> Iterator[tuple[int, str]]:
    """Line and text of each block of a page whose output changed since it was approved, or that came or went."""
    matcher = difflib.SequenceMatcher(None, [b.source for b in before], [n.source for n in now], autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        for old, new, number in zip(before[a:b], now[c:d], range(c, d)) if kind == "equal" else ():
            was, now_is = old.output.strip("\n"), new.output.strip("\n")
            if was != now_is:
                diff = difflib.unified_diff(was.split("\n"), now_is.split("\n"), "approved", "now", lineterm="")
                yield line_of(page, number), f"the output changed: {new.source}\n" + "\n".join(diff)
        if kind != "equal":
            yield from ((1, f"no longer there: {old.source}") for old in before[a:b])
            yield from ((line_of(page, n), f"not approved yet: {now[n].source}") for n in range(c, d))


def is_edition() -> bool:
    """Whether this Python and machine are the edition's, so that every output must be as approved."""
    python = platform.python_implementation(), sys.version_info[:2]
    return python == ("CPython", (3, 11)) and (platform.system(), platform.machine()) == ("Linux", "x86_64")
