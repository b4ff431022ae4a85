"""What pages list by themselves: the gallery (each example with its thesis, the chapters that show it, its whole text
and what it prints), and the exercises with what each teaches."""

import ast
import html
import posixpath
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from inside_torch.book import Page, reading_order
from inside_torch.edition import ROOT
from inside_torch.fences import fenced
from inside_torch.render import changes, glossary, prerequisites

GALLERY = "<!-- gallery -->"
EXERCISES = "<!-- exercises -->"
PRINTS = re.compile(r"^<!-- prints ([\w/]+\.py) -->$", re.M)
LESSON = re.compile(r"^## What it teaches\n+(.+?[.!?])(?:\s|$)", re.M | re.S)
BELONGS = re.compile(r"\bIt belongs to the chapters? (.+?)(?:\.\s|, which)", re.S)
# A fence of examples/README.md with the remark before it, or a heading of a topic or an example.
PART = re.compile(
    r"(?P<expected><!--pytest-codeblocks:expected-output-->\s*)?^(?P<fence>`{3,})[^\n]*\n(?P<body>.*?)^(?P=fence)$"
    r"|^(?P<level>#+) (?P<heading>[^\n]+)$",
    re.M | re.S,
)


@dataclass(frozen=True)
class Example:
    """A program of examples/, the topic that its section of the README stands under, and what it prints."""

    name: str
    topic: str
    thesis: str
    printed: str
    chapters: tuple[tuple[str, str], ...]  # (title, file), in the order of the files


def sections(readme: str) -> dict[str, tuple[str, str]]:
    """The examples that a README explains, in its order: topic (`## Topic`) and expected output of each
    (`### NAME.py`)."""
    found: dict[str, tuple[str, str]] = {}
    topic = name = ""
    for part in PART.finditer(readme):
        if heading := part["heading"]:
            name = heading if heading.endswith(".py") else ""
            if part["level"] != "###":
                topic = "" if name else heading
            if name:
                found[name] = topic, ""
        elif part["expected"] and name and not found[name][1]:
            found[name] = topic, part["body"]
    return found


def thesis(source: str) -> str:
    """The first line of a program's docstring, or nothing."""
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def title(text: str) -> str:
    """The title of a page, from its Markdown."""
    return text.partition("\n")[0].lstrip("# ")


def shown_by(name: str, texts: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """The pages with a listing of an example: their titles and paths."""
    listing = f'```python title="examples/{name}"'
    return tuple((title(text), src) for src, text in sorted(texts.items()) if listing in text)


def programs(root: Path = ROOT) -> list[str]:
    """The names of all examples. What makes up the reader's own torch, in a folder of its own, is no program."""
    return sorted(path.name for path in (root / "examples").glob("*.py"))


def examples(texts: dict[str, str], root: Path = ROOT) -> list[Example]:
    """Every example, in the order of the README; those it does not explain come last, without a topic."""
    known = sections((root / "examples" / "README.md").read_text(encoding="utf-8"))
    there = {name: root / "examples" / name for name in programs(root)}
    found = []
    for name in (name for name in dict.fromkeys([*known, *there]) if name in there):
        topic, printed = known.get(name, ("", ""))
        said = thesis(there[name].read_text(encoding="utf-8"))
        found.append(Example(name, topic, said, printed, shown_by(name, texts)))
    return found


def plain(text: str) -> str:
    """A line as Markdown that shows it unchanged."""
    return re.sub(r"([\\`*_\[\]])", r"\\\1", html.escape(text, quote=False))


def entry(example: Example, folder: str = "") -> str:
    """An example as Markdown for a page in `folder` of docs/."""
    path = f"examples/{example.name}"
    shown = ", ".join(f"[{title}]({posixpath.relpath(src, folder or '.')})" for title, src in example.chapters)
    listing = f'```text\n--8<-- "{path}"\n```\n'  # colours would make this page the heaviest of the book
    printed = f"\nIt prints:\n\n````text\n{example.printed}````\n" if example.printed else ""
    return (
        f"### {plain(example.name)}\n\n{plain(example.thesis)}"
        + (f" Shown in {shown}." if shown else "")
        + f'\n\n??? quote "The whole of {example.name}"\n\n'
        + textwrap.indent(listing + printed, "    ")
    )


def markdown(found: list[Example], folder: str = "") -> str:
    """All examples as Markdown, under a heading for each topic, for a page in `folder` of docs/."""
    parts = []
    for topic in dict.fromkeys(example.topic for example in found):
        parts.append(f"## {topic or 'More'}\n")
        parts += [entry(example, folder) for example in found if example.topic == topic]
    return "\n".join(parts)


def exercises(texts: dict[str, str], root: Path = ROOT) -> str:
    """A row for each exercise of the navigation, in its order: the title, what the exercise teaches, its chapters."""
    rows = ["| exercise | what it teaches, and its chapter |", "|---|---|"]
    for src in (src for src in reading_order(root) if src.startswith("exercises/")):
        if lesson := LESSON.search(texts.get(src, "")):
            told = " ".join(part[1] for part in (lesson, BELONGS.search(texts[src])) if part)
            rows.append(f"| [{title(texts[src])}]({src.rpartition('/')[2]}) | {' '.join(told.split())} |")
    return "\n".join(rows)


def printed(text: str, root: Path = ROOT) -> str:
    """A text with what the README of the examples says that a program prints in place of each marker. A marker of a
    program that the README does not know stays, and the build names its line."""
    known = sections((root / "examples" / "README.md").read_text(encoding="utf-8"))

    def output(found: re.Match[str]) -> str:
        said = known.get(found[1], ("", ""))[1]
        return fenced(said, "text") if said else found[0]

    return PRINTS.sub(output, text)


def expand(page: Page, pages: Sequence[Page]) -> str:
    """The Markdown of a page with the tables in place of their markers, made from all pages."""
    text, folder = prerequisites.expanded(page, pages), posixpath.dirname(page.src)
    texts = {one.src: one.text for one in pages}
    if GALLERY in text:
        text = text.replace(GALLERY, markdown(examples(texts), folder))
    if EXERCISES in text:
        text = text.replace(EXERCISES, exercises(texts))
    text = changes.expanded(page, pages, printed(text) if PRINTS.search(text) else text)
    return glossary.MARKER.sub(lambda found: glossary.markdown(found[1], pages, folder), text)
