"""Citations of PyTorch's source: `[text](src:PATH#SYMBOL)` becomes a permalink to a line that is proven.

Each spelling names its own proof; CONTRIBUTING.md lists them. What is missing, ambiguous or cannot be
proven raises `UnprovenError`, and the build stops with page and line. torch is never imported here.
"""

import functools
import re
import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

from inside_torch.book import INLINE_CODE
from inside_torch.citations import binary, cpp, generated, live, python
from inside_torch.citations.proof import Citation, UnprovenError
from inside_torch.citations.wheel import YAML, Run, Wheel
from inside_torch.edition import Edition
from inside_torch.fences import Fence, without
from inside_torch.run.cache import Cache

# The target of a Markdown link, or else what might become a link of another kind.
CITED = re.compile(
    r"(?:\]\(\s*|\]:\s*)<?src:(?P<reference>(?:[^\s()<>]|\([^\s()<>]*\))+)"
    r"""|(?P<raw>href\s*=\s*["']?)?\bsrc:(?P<other>[^\s()<>"']+)"""
)
RECORDS = {"kernel": live.kernel, "check": live.check, "symbol": binary.symbol}
HEADERS = (".h", ".hpp", ".cuh")
FILES = (".cpp", ".cu", ".c", ".mm")


def cited(text: str, fences: Iterable[Fence]) -> Iterator[tuple[int, re.Match[str]]]:
    """Line and match of each `src:` in a page's Markdown, in order; in code there are none."""
    lines = enumerate(without(text, fences).split("\n"), 1)
    return ((number, found) for number, line in lines for found in CITED.finditer(INLINE_CODE.sub("", line)))


def references(text: str, fences: Iterable[Fence]) -> list[tuple[int, str]]:
    """Line and reference of every citation in a page's Markdown, in order."""
    return [(number, m["reference"]) for number, m in cited(text, fences) if m["reference"]]


@dataclass(frozen=True)
class Proofs:
    """Proves citations of one edition's torch. `run` runs a program with it, and returns what has an `output`, and a
    `failure`: empty when the program ran well."""

    edition: Edition
    run: Run
    programs = staticmethod(live.programs)  # a build starts early what must run to prove a citation

    @functools.cached_property
    def wheel(self) -> Wheel:
        return Wheel(self.edition, self.run)

    @functools.cached_property
    def cache(self) -> Cache:
        return Cache(self.edition, "citations", "citations")

    def resolve(self, reference: str) -> Citation:
        """Find what `PATH#SYMBOL` names, and its proof. Raises UnprovenError."""
        path, _, symbol = reference.partition("#")
        if path in RECORDS:
            return RECORDS[path](self.wheel, symbol)
        if path in YAML:
            return self.wheel.entry(path, symbol)
        if path.startswith("generated/"):
            return generated.line(self.wheel, path.removeprefix("generated/"), symbol)
        if path.endswith(".py"):
            return self.wheel.shipped(path, symbol, python.find)
        if path.endswith(HEADERS):
            return self.wheel.shipped(f"torch/include/{path}", symbol, cpp.find)
        if not path.endswith(FILES):
            raise UnprovenError(f"nothing is cited as src:{path}; CONTRIBUTING.md has the spellings")
        if symbol:
            raise UnprovenError(f"{path} is not in the wheel: a line of it needs src:kernel# or src:check#")
        return binary.file(self.wheel, path)

    def citation(self, reference: str) -> Citation:
        """`resolve`, remembered on disk; a failure is never stored. Raises UnprovenError."""
        return Citation(**self.cache.memo(lambda: asdict(self.resolve(reference)), reference))

    def failure(self, reference: str) -> str:
        """The sentence that says why a citation is not proven; empty when it is."""
        try:
            self.citation(reference)
        except UnprovenError as error:
            return f"the citation src:{reference} is not proven: {error}"
        return ""

    def problem(self, found: re.Match[str]) -> str:
        """What is wrong with a `src:` of a page; empty when it is a citation that is proven."""
        if found["reference"]:
            return self.failure(found["reference"])
        is_no_link = "is raw HTML" if found["raw"] else "is broken over lines"
        return f"the citation src:{found['other']} {is_no_link}, not a Markdown link"

    def problems(self, text: str, fences: list[Fence]) -> list[tuple[int, str]]:
        """Line and message of everything that is wrong with a page's citations."""
        return [(line, said) for line, found in cited(text, fences) if (said := self.problem(found))]

    def begin(self, references: Iterable[str]) -> None:
        """Start on what takes long to prove, unless it is remembered."""
        slow = [one for one in references if one.startswith("generated/") and self.cache.get(one) is None]
        for one in slow[:1]:  # the others come with it; who needs it waits, and sees why it fails
            threading.Thread(target=self.failure, args=[one], daemon=True).start()
