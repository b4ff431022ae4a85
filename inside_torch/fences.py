"""Find the fences of a page, with their lines, and refuse those the book gives no meaning."""

import ast
import difflib
import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from inside_torch import quiz

RUN = ("python", "figure", "quiz")
SHOWN = ("text", "cpp", "console", "yaml", "toml", "html", "css")
HEAD = re.compile(r"(?P<prefix>[ \t>]*)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)")
MISPLACED = re.compile(r"[ \t>]*(?:[-*+]|\d+[.)])[ \t]+(?:`{3,}|~{3,})[^`]*")
LISTING = re.compile(r'python title="(examples/[\w./-]+)"')
INCLUDE = re.compile(r'\s*--8<-- "(examples/[\w./-]+?)(?::[\w-]+|:\d+:\d+)?"\s*')
FOLD = "# ---"


@dataclass(frozen=True)
class Problem:
    """Something on a page that must not be published: its line and a sentence, perhaps with details below."""

    line: int
    text: str
    details: str = ""


@dataclass(frozen=True)
class Fence:
    """A fence of a page: what stands behind its backticks, its content, and the lines of its ends (from 1)."""

    info: str
    source: str
    line: int
    end: int = 0

    @property
    def runs(self) -> bool:
        return self.info in RUN

    @property
    def is_program(self) -> bool:
        """Whether a reader sees it as a program with its output."""
        return self.info in ("python", "quiz")

    @property
    def quiz(self) -> quiz.Quiz:
        """The parts of a quiz."""
        return quiz.parse(self.source)

    @property
    def program(self) -> str:
        """What a fence that runs shows as its source."""
        return self.quiz.program if self.info == "quiz" else self.source

    @property
    def program_line(self) -> int:
        """The line of the page above the program's first."""
        return self.line + (self.quiz.start if self.info == "quiz" else 0)

    @property
    def is_listing(self) -> bool:
        return LISTING.fullmatch(self.info) is not None


@functools.cache
def folded(program: str) -> int:
    """How many lines of a program are folded away: up to its line `# ---`, or else the imports that begin it."""
    lines = program.split("\n")
    if FOLD in lines:
        end = lines.index(FOLD) + 1
    else:
        try:
            statements = ast.parse(program).body
        except SyntaxError:
            return 0
        imports = [one for one in statements if isinstance(one, ast.Import | ast.ImportFrom)]
        leading = [one for one, first in zip(imports, statements) if one is first]
        if not leading or leading == statements or lines[0].startswith("#"):
            return 0
        end = leading[-1].end_lineno
    while end < len(lines) and not lines[end].strip():
        end += 1
    return end if end < len(lines) else 0


def without(text: str, fences: Iterable[Fence]) -> str:
    """A text with its fences as empty lines, so that lines keep their numbers."""
    lines = text.splitlines()
    for fence in fences:
        lines[fence.line - 1 : fence.end] = [""] * (fence.end - fence.line + 1)
    return "\n".join(lines)


def fenced(text: str, info: str = "") -> str:
    """A Markdown fence around any text: longer than any row of backticks in it."""
    ticks = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    return f"{ticks}{info}\n{text.rstrip()}\n{ticks}"


def content(line: str, prefix: str) -> str | None:
    """A line inside a fence without the fence's prefix; None when it is not indented as far."""
    line = line.expandtabs(4)
    if line.startswith(prefix):
        return line[len(prefix) :]
    return "" if not line.strip("> \t") else None


def complaint(info: str, source: str) -> str:
    """Why a fence has no meaning in this book; empty when it has one."""
    if info in RUN + SHOWN:
        return ""
    if listing := LISTING.fullmatch(info):
        include = INCLUDE.fullmatch(source)
        if include and include[1] == listing[1]:
            return ""
        return f'a listing of {listing[1]} holds one line, --8<-- "{listing[1]}:SECTION"'
    name = re.split(r"[^\w]", info.strip().lstrip("{.").lower(), maxsplit=1)[0]
    if name in RUN and info.lower() != name:
        return f"a `{name}` fence has nothing else on its line, but this one says `{info}`"
    near = difflib.get_close_matches("python" if name.startswith("py") else name, RUN + SHOWN, 1)
    known = ", ".join(RUN + SHOWN)
    hint = f"; did you mean `{near[0]}`?" if near else f"; there are {known}"
    return f"a fence named `{info}` has no meaning{hint}"


def problems_of(fence: Fence) -> list[Problem]:
    """What is wrong with a fence as it is written."""
    wrong = complaint(fence.info, fence.source)
    found = [Problem(fence.line, wrong)] if wrong else []
    if fence.info == "quiz":
        found += [Problem(fence.line + at, said) for at, said in fence.quiz.problems]
    if fence.runs and fence.program.split("\n").count(FOLD) > 1:
        found.append(Problem(fence.line, f"a block has one fold, but this one says `{FOLD}` twice"))
    return found


def parse(text: str) -> tuple[list[Fence], list[Problem]]:
    """The fences of a page's Markdown in order, and the problems with them."""
    found: list[Fence] = []
    problems: list[Problem] = []
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        opened, number = number + 1, number + 1
        head = HEAD.fullmatch(lines[opened - 1])
        if not head:
            if MISPLACED.fullmatch(lines[opened - 1]):
                problems.append(Problem(opened, "a fence opens on a line of its own, below its list item"))
            continue
        prefix, end = head["prefix"].expandtabs(4), head["fence"]
        body: list[str] = []
        while number < len(lines) and (inner := content(lines[number], prefix)) is not None:
            number += 1
            if inner.rstrip(" \t") == end:
                break
            body.append(inner)
        else:
            problems.append(Problem(opened, "this fence is not closed (at the same indentation)"))
            continue
        found.append(Fence(head["info"], "\n".join(body), opened, number))
        problems += problems_of(found[-1])
    return found, problems
