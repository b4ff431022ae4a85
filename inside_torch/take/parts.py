"""A page taken apart for the forms that readers take along: prose, and programs with what they print."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from inside_torch.book import FRONT_MATTER, Page
from inside_torch.build import Build
from inside_torch.fences import Fence, fenced
from inside_torch.quiz import Quiz
from inside_torch.render import notebook, ten_lines
from inside_torch.take.prose import PROGRAM, TEXT, plain

PROGRAM_MARK = re.compile(rf"^[ >]*{PROGRAM}(\d+)$", re.M)
TEXT_MARK = re.compile(rf"^([ >]*){TEXT}(\d+)$", re.M)


@dataclass(frozen=True)
class Part:
    """A piece of a page: prose as Markdown, or a `program` with what it prints; it may be that of a `quiz`."""

    text: str
    program: bool = False
    output: str = ""
    quiz: Quiz | None = None


def marked(page: Page) -> str:
    """The text of a page with a mark for each fence, as far indented as the fence, and without settings."""
    lines = page.text.splitlines()
    for number, fence in reversed(list(enumerate(page.fences))):
        start = lines[fence.line - 1]
        prefix = start[: len(start) - len(start.lstrip(" \t>"))].expandtabs(4)
        mark = PROGRAM if fence.is_program else TEXT
        lines[fence.line - 1 : fence.end] = [f"{prefix}{mark}{number}"]
    return FRONT_MATTER.sub("", "\n".join(lines) + "\n")


def parts(page: Page, build: Build, site: str, drawn: Callable[[str], str]) -> list[Part]:
    """The pieces of a page in order; `drawn` gives a figure as Markdown, `site` is where links lead, if anywhere."""

    def shown(mark: re.Match[str]) -> str:
        """A fence that is part of the prose."""
        fence = page.fences[int(mark[2])]
        if fence.info == "figure":
            text = drawn(build.result(fence).output)
        else:
            text = fenced(build.with_includes(fence.source), "python" if fence.is_listing else fence.info)
        return "\n".join((mark[1] + line).rstrip() for line in text.split("\n"))

    def program(fence: Fence) -> Part:
        return Part(fence.program, True, build.result(fence).output, fence.quiz if fence.info == "quiz" else None)

    if page.kind == "notebook":
        return cells(page, build, site)
    text = plain(marked(page), page, build, site)
    if ten_lines.HERO in text:
        text = text.replace(ten_lines.HERO, fenced(ten_lines.whole(build.book.root), "python"))
    pieces = PROGRAM_MARK.split(text)
    found = [
        program(page.fences[int(piece)]) if at % 2 else Part(TEXT_MARK.sub(shown, piece).strip("\n"))
        for at, piece in enumerate(pieces)
    ]
    return [part for part in found if part.text.strip()]


def cells(page: Page, build: Build, site: str) -> list[Part]:
    """A page that is a notebook: its cells, and what each printed."""
    import jupytext

    outputs = iter(notebook.outputs(build.blocks.result(notebook.program(page.text)).output))
    return [
        Part(one.source, True, next(outputs))
        if one.cell_type == "code"
        else Part(plain(one.source, page, build, site).strip("\n"))
        for one in jupytext.reads(page.text, "py:percent").cells
    ]
