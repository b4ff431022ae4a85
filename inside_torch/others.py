"""Other torches: what they print where it differs from the book, and the author's sentence on why.

tests/approved/torch-VERSION/PAGE.txt holds what another torch prints for the blocks that differ, whole, and nothing of
the others; a block is known by a digest of its program, so what changes around it does not matter. meta.json beside it
says how it was recorded and seals it; tests/approved/why.yaml has the sentences. Reading them runs nothing.
"""

import difflib
import functools
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from inside_torch.approved import FAILS, as_shown, before, line_of
from inside_torch.book import Page
from inside_torch.render import notebook, ten_lines
from inside_torch.render.fences import block_name
from inside_torch.run.blocks import STDERR
from inside_torch.run.cache import digest

WHY, META, PAGE = "why.yaml", "meta.json", "reference/what-changed.md"
NOISE = "noise"
KINDS = ("value", "error", "name", "source", NOISE)  # in the order in which they matter to a reader


@dataclass(frozen=True)
class Reason:
    """Why some blocks (keys by `src`) print something else on some torches, in a sentence that is true of both sides,
    with an address as its `source`. Noise says nothing of torch, and needs none."""

    kind: str
    says: str
    source: str = ""
    torches: tuple[str, ...] = ()
    blocks: dict[str, list[str]] = field(default_factory=dict)

    def covers(self, one: "Difference") -> bool:
        return one.torch in self.torches and one.key in self.blocks.get(one.src, ())


@dataclass(frozen=True)
class Difference:
    """A block of the page `src` that another torch runs differently: what it says of itself, and both outputs."""

    torch: str
    src: str
    key: str
    source: str
    line: int
    was: str
    now: str
    figure: bool = False

    @functools.cached_property
    def diff(self) -> list[str]:
        """The changed lines, each with one around it: `-` the book's, `+` the other's."""
        lines = difflib.unified_diff(self.was.split("\n"), self.now.split("\n"), n=1, lineterm="")
        return ["⋯" if line.startswith("@@ ") else line for line in lines][3:]

    @property
    def fails(self) -> bool:
        return any(line.startswith(FAILS) for line in self.now.split("\n"))

    @property
    def warns(self) -> bool:
        """Whether the other only writes a warning besides, which says nothing of what the block is about."""
        return self.now.removeprefix(f"{self.was}\n").startswith(FAILS + STDERR)

    @property
    def undrawn(self) -> bool:
        """Whether it is a figure that the other cannot draw, with the book's own code, which readers do not run."""
        return self.fails and self.figure


def keys(page: Page) -> list[str]:
    """A name for each thing that a page shows, in the order of `approved.shown`, made of its program alone."""
    if page.kind == "notebook":
        return [f"b-{digest('python', cell)[:8]}" for cell in notebook.cells(page.text)]
    return [block_name(fence) for fence in page.running] + ["ten-lines"] * (ten_lines.HERO in page.text)


def seal(folder: Path) -> dict[str, str]:
    """A digest of each record of a folder."""
    files = sorted(folder.rglob("*.txt"))
    return {file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()[:16] for file in files}


def label(name: str) -> str:
    """A record's name as readers know it: `2.13.0-python-3.13` is torch 2.13.0 on Python 3.13."""
    return f"torch {name.replace('-python-', ' on Python ')}"


def order(name: str) -> tuple:
    """Sorts records: those of the edition's Python first, the newest torch first."""
    version, _, python = name.partition("-python-")
    return bool(python), *(-int(part) for part in version.split(".")), python


class Others:
    """The records below tests/approved/ of `root`: `torches` has the meta of each by name, `differences` what differs,
    `reasons` the sentences, `problems` (src, line, text) what of all this does not fit together, `stale` (torch, src,
    key) what is recorded of blocks that are gone or differ no more."""

    def __init__(self, root: Path, pages: Sequence[Page]) -> None:
        self.folder = root / "tests" / "approved"
        self.pages = {page.src: page for page in pages}
        self.problems: list[tuple[str, int, str]] = []
        self.stale: set[tuple[str, str, str]] = set()
        folders = {file.parent.name.removeprefix("torch-"): file for file in self.folder.glob(f"torch-*/{META}")}
        self.torches = {name: json.loads(folders[name].read_text("utf-8")) for name in sorted(folders, key=order)}
        self.differences = [one for name in self.torches for one in self.recorded(name)]
        why = self.folder / WHY
        found = yaml.safe_load(why.read_text("utf-8")) if self.torches and why.exists() else []
        self.reasons = [Reason(**one) for one in sorted(found or [], key=lambda one: KINDS.index(one["kind"]))]
        self.check()

    def complain(self, src: str, line: int, text: str) -> None:
        """Note a problem of a page, or of the page that lists all changes where there is no such page."""
        self.problems.append((src if src in self.pages else PAGE, line, text))

    def current(self, src: str) -> dict[str, tuple[int, str]]:
        """Line and approved output of each thing that a page shows. Raises ValueError when it is not approved as it is:
        then there is nothing to compare with, and the rule `approved` says so."""
        page = self.pages[src]
        names, shown = keys(page), before(page, self.folder)
        if len(names) != len(shown):
            raise ValueError(f"{page.name} is not approved as it is: make approve")
        return {name: (line_of(page, number), shown[number].output) for number, name in enumerate(names)}

    def recorded(self, name: str) -> Iterator[Difference]:
        """What a record says, as far as it fits the book."""
        folder = self.folder / f"torch-{name}"
        if (now := seal(folder)) != (sealed := self.torches[name]["seal"]):
            for file in sorted(file for file in now.keys() | sealed if now.get(file) != sealed.get(file)):
                said = f"tests/approved/torch-{name}/{file} is not as it was recorded: make compare"
                self.complain(file.removesuffix(".txt"), 1, said)
        for file in now:
            src = file.removesuffix(".txt")
            try:
                known = self.current(src) if src in self.pages else {}
            except ValueError:
                continue
            figures = (
                {block_name(fence) for fence in self.pages[src].running if fence.info == "figure"} if known else set()
            )
            for one in as_shown((folder / file).read_text("utf-8")):
                key, _, source = one.source.partition(" ")
                line, was = known.get(key, (1, None))
                if was is not None and was != one.output:
                    yield Difference(name, src, key, source, line, was, one.output, key in figures)
                else:
                    gone = "is no longer there" if was is None else "differs no more"
                    self.stale.add((name, src, key))
                    self.complain(src, line, f"{label(name)} is recorded of a block that {gone}: {one.source}")

    def why(self, one: Difference) -> list[Reason]:
        """The sentences on a difference."""
        return [reason for reason in self.reasons if reason.covers(one)]

    def check(self) -> None:
        """Complain of a difference without a sentence, and of a sentence without a difference or a source."""
        for one in self.differences:
            if not self.why(one):
                self.complain(one.src, one.line, f"{label(one.torch)} prints something else, and {WHY} says not why")
        for reason in self.reasons:
            covered = [one for one in self.differences if reason.covers(one)]
            named = {(src, key) for src, found in reason.blocks.items() for key in found}
            for src, key in sorted(named - {(one.src, one.key) for one in covered}):
                self.complain(src, 1, f"{WHY} explains {key}, which does not differ: {reason.says}")
            for name in sorted(set(reason.torches) - {one.torch for one in covered}):
                self.complain(PAGE, 1, f"{WHY} explains what does not differ on {label(name)}: {reason.says}")
            if reason.kind != NOISE and not reason.source.startswith("https://"):
                self.complain(PAGE, 1, f"{WHY} has a sentence without a source: {reason.says}")
