"""Find the fences of a page, with their lines, and refuse those the book gives no meaning."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from inside_torch import quiz

RUN = ("python", "figure", "quiz")
SHOWN = ("text", "cpp", "console", "yaml", "toml", "html", "css")
HEAD = re.compile(r"(?P<prefix>[ \t>]*)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)")
MISPLACED = re.compile(r"[ \t>]*(?:[-*+]|\d+[.)])[ \t]+(?:`{3,}|~{3,})[^`]*")
LISTING = re.compile(r'python title="(examples/[\w./-]+)"')
INCLUDE = re.compile(r'\s*--8<-- "(examples/[\w./-]+?)(?::[\w-]+)?"\s*')


@dataclass(frozen=True)
class Fence:
    """A fence of a page: what stands behind its backticks, its content, and the line it opens on (from 1)."""

    info: str
    source: str
    line: int

    @property
    def runs(self) -> bool:
        return self.info in RUN

    @property
    def program(self) -> str:
        """What a fence that runs shows as its source."""
        return quiz.parse(self.source).program if self.info == "quiz" else self.source

    @property
    def is_listing(self) -> bool:
        return LISTING.fullmatch(self.info) is not None


@dataclass(frozen=True)
class Problem:
    """Something on a page that must not be built: its page, line and a sentence."""

    page: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"


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


def fences(text: str, page: str) -> tuple[list[Fence], list[Problem]]:
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
                problems.append(Problem(page, opened, "a fence opens on a line of its own, below its list item"))
            continue
        prefix, end = head["prefix"].expandtabs(4), head["fence"]
        body: list[str] = []
        while number < len(lines) and (inner := content(lines[number], prefix)) is not None:
            number += 1
            if inner.rstrip(" \t") == end:
                break
            body.append(inner)
        else:
            problems.append(Problem(page, opened, "this fence is not closed (at the same indentation)"))
            continue
        fence = Fence(head["info"], "\n".join(body), opened)
        found.append(fence)
        if wrong := complaint(fence.info, fence.source):
            problems.append(Problem(page, opened, wrong))
        if fence.info == "quiz":
            problems += [Problem(page, opened + at, said) for at, said in quiz.parse(fence.source).problems]
    return found, problems
