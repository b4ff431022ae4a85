"""The table of exercises, as a Markdown extension: a new exercise is listed by being in the navigation."""

from __future__ import annotations

import re

from markdown import Extension
from markdown.preprocessors import Preprocessor

from inside_torch.edition import ROOT

TITLE = re.compile(r"^# (.+)$", re.M)
LESSON = re.compile(r"^## What it teaches\n+(.+?[.!?])(?:\s|$)", re.M | re.S)


def table() -> list[str]:
    """A row for each exercise of the navigation, in its order: the title, and what the exercise teaches."""
    rows = ["| exercise | what it teaches |", "|---|---|"]
    for page in re.findall(r"\bexercise-[\w-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        title, lesson = TITLE.search(text), LESSON.search(text)
        if title and lesson:
            rows.append(f"| [{title[1]}]({page}) | {' '.join(lesson[1].split())} |")
    return rows


def expanded(text: str) -> str:
    """A page's Markdown with the table where it says `[exercises]` on a line of its own."""
    return re.sub(r"^\[exercises\]$", lambda _: "\n".join(table()), text, flags=re.M)


class Overview(Preprocessor):
    """Puts the table into a page while it is rendered."""

    def run(self, lines: list[str]) -> list[str]:
        return expanded("\n".join(lines)).split("\n")


class Exercises(Extension):
    """Markdown extension for the table."""

    def extendMarkdown(self, md) -> None:  # noqa: N802 - Markdown's name
        md.preprocessors.register(Overview(md), "it-exercises", 26)  # fences: 25


def makeExtension(**options) -> Exercises:  # noqa: N802 - Markdown's name
    """Entry point of Python-Markdown."""
    return Exercises(**options)
