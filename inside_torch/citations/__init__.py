"""Citations of PyTorch's source: `[text](src:PATH#SYMBOL)` becomes a permalink to a line that is proven.

Each spelling names its own proof; CONTRIBUTING.md lists them. What is missing, ambiguous or cannot be
proven raises `UnprovenError`, and the build stops with page and line. torch is never imported here.
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import asdict
from pathlib import Path

from inside_torch import edition, render
from inside_torch.cache import Cache, digest
from inside_torch.citations import binary, cpp, entries, generated, live, python
from inside_torch.citations.proof import Citation, UnprovenError
from inside_torch.citations.wheel import shipped, source_file
from inside_torch.fences import fences

TARGET = re.compile(r"(?:\]\(|\]:\s*)<?src:((?:[^\s()<>]|\([^\s()<>]*\))+)")
INLINE_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
CACHE = Cache(edition.CACHE / "citations")
HEADERS = (".h", ".hpp", ".cuh")
FILES = (".cpp", ".cu", ".c", ".mm")


def resolve(reference: str) -> Citation:
    """Find what `PATH#SYMBOL` names, and its proof. Raises UnprovenError."""
    path, _, symbol = reference.partition("#")
    if path == "kernel":
        return live.kernel(symbol)
    if path == "check":
        return live.check(symbol)
    if path == "symbol":
        return binary.symbol(symbol)
    if path in entries.FILES:
        return entries.entry(path, symbol)
    if path.startswith("generated/"):
        return generated.line(path.removeprefix("generated/"), symbol)
    if path.endswith(".py"):
        return shipped(path, symbol, python.find)
    if path.endswith(HEADERS):
        return shipped(source_file(path), symbol, cpp.find)
    if not path.endswith(FILES):
        raise UnprovenError(f"nothing is cited as src:{path}; CONTRIBUTING.md has the spellings")
    if symbol:
        raise UnprovenError(
            f"{path} is not in the wheel: a line of it needs src:kernel# or src:check#; or cite the file"
        )
    return binary.file(path)


@functools.cache
def proving_code() -> str:
    """A digest of this package: a proof is as good as the code that made it."""
    return edition.hash_of_files(list(Path(__file__).parent.glob("*.py")))


def citation(reference: str) -> Citation:
    """`resolve`, remembered on disk; a failure is never stored. Raises UnprovenError."""
    if found := remembered(reference):
        return found
    found = resolve(reference)
    CACHE.put(key(reference), json.dumps(asdict(found)))
    return found


def key(reference: str) -> str:
    return digest(reference, render.blocks().fingerprint, proving_code())


def remembered(reference: str) -> Citation | None:
    """The citation as an earlier build proved it."""
    stored = CACHE.get(key(reference))
    return Citation(**json.loads(stored)) if stored else None


def references(text: str) -> list[tuple[int, str]]:
    """Line and reference of every citation in a page's Markdown, in order; in code there are none."""
    lines = text.splitlines()
    for fence in fences(text, "")[0]:
        end = fence.line + fence.source.count("\n") + 1
        lines[fence.line : end] = [""] * len(lines[fence.line : end])
    shown = (INLINE_CODE.sub("", line) for line in lines)
    return [(number, found[1]) for number, line in enumerate(shown, 1) for found in TARGET.finditer(line)]


def programs(text: str) -> list[tuple[str, str]]:
    """What must run to prove the citations of a page, as blocks: a build starts it early."""
    return [program for _, reference in references(text) for program in live.programs(reference)]


def begin(text: str) -> None:
    """Start on what takes long to prove of a page's citations, unless it is remembered."""
    if any(path.startswith("generated/") and not remembered(path) for _, path in references(text)):
        generated.begin()


def makeExtension(**options):  # noqa: N802 - Markdown's name
    """Entry point of Python-Markdown."""
    from inside_torch.citations.markdown import Citations

    return Citations(**options)
