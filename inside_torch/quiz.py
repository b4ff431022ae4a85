"""Quizzes: a question, a program, and wrong answers, each with the mistaken idea behind it.

The right answer is in no file: it is what the program prints. CONTRIBUTING.md shows the form of a `quiz` fence.
"""

from __future__ import annotations

import functools
import html
import itertools
import re
from dataclasses import dataclass

from markdown.extensions.toc import slugify

from inside_torch.cache import digest

HEAD = ("question", "section")
PART = re.compile(r"--- *(\w+) *")
WRONG = range(2, 5)


@dataclass(frozen=True)
class Quiz:
    """A quiz as written. `start` is the number of lines above its program; each problem has its line (from 1)."""

    question: str
    section: str
    program: str
    start: int
    wrong: tuple[tuple[str, str], ...]
    problems: tuple[tuple[int, str], ...]

    @property
    def in_place(self) -> str:
        """The program with blank lines above it, so that Python counts its lines as the quiz does."""
        return "\n" * self.start + self.program

    @property
    def target(self) -> tuple[str, str]:
        """The page, empty for the quiz's own, and the anchor of the section that explains the answer."""
        page, _, heading = self.section.rpartition("#")
        return page, slugify(heading, "-")


def same(a: str, b: str) -> bool:
    """Whether two answers differ in blanks at most: nobody can choose between such answers."""
    return a.split() == b.split()


@functools.cache
def parse(source: str) -> Quiz:
    """Take the content of a `quiz` fence apart; what is missing or unknown is among its problems."""
    parts: list[tuple[str, int, list[str]]] = [("", 0, [])]
    for number, line in enumerate(source.split("\n"), 1):
        if separator := PART.fullmatch(line):
            parts.append((separator[1], number, []))
        else:
            parts[-1][2].append(line)
    head: dict[str, str] = {}
    programs: list[tuple[str, int]] = []
    wrong: list[tuple[str, str]] = []
    problems: list[tuple[int, str]] = []
    for name, begun, lines in parts:
        if name == "":
            for number, line in enumerate(lines, 1):
                key, _, value = line.partition(":")
                if key in HEAD and key not in head:
                    head[key] = value.strip()
                elif line.strip():
                    problems.append((number, f"a quiz begins with {' and '.join(HEAD)}, once each, not with `{line}`"))
        elif name == "program":
            programs.append(("\n".join(lines).rstrip(), begun))
        elif name == "wrong":
            text, _, because = "\n".join(["", *lines]).partition("\nbecause:")
            text = text.strip("\n").rstrip()
            wrong.append((text, " ".join(because.split())))
            if not text:
                problems.append((begun, "this wrong answer is empty"))
            if not because.strip():
                problems.append((begun, "this wrong answer has no `because:`, the mistaken idea behind it"))
        else:
            problems.append((begun, f"a quiz has no part named `{name}`; there are program and wrong"))
    problems += [(0, f"this quiz has no `{key}:`") for key in HEAD if not head.get(key)]
    if len(programs) != 1 or not programs[0][0]:
        problems.append((0, "a quiz has one `--- program`"))
    if len(wrong) not in WRONG:
        problems.append((0, f"a quiz has {WRONG[0]} to {WRONG[-1]} wrong answers, and this one {len(wrong)}"))
    for (i, (a, _)), (j, (b, _)) in itertools.combinations(enumerate(wrong, 1), 2):
        if a and same(a, b):
            problems.append((0, f"the wrong answers {i} and {j} are equal"))
    program, start = programs[0] if programs else ("", 0)
    return Quiz(
        head.get("question", ""), head.get("section", ""), program, start, tuple(wrong), tuple(sorted(problems))
    )


def objection(quiz: Quiz, output: str) -> str:
    """Why the output cannot be the one right answer; empty when it can."""
    if not output.strip():
        return "the program prints nothing, so there is nothing to predict"
    for number, (text, _) in enumerate(quiz.wrong, 1):
        if same(text, output):
            return f"wrong answer {number} is what the program prints"
    return ""


def prose(text: str) -> str:
    """A sentence as HTML: text, with `code` between backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))


def quiz_html(quiz: Quiz, source_html: str, output: str, output_html: str) -> str:
    """A quiz that reads without a script as question, answers, and a disclosure; quiz.js makes it answer.

    The order of the answers is that of their digests: the same in every build, and it tells nothing.
    """
    name = digest(quiz.question, quiz.program)[:12]
    answers = [(text, f"<strong>Wrong.</strong> {prose(because)}", "wrong") for text, because in quiz.wrong]
    answers.append((output.strip("\n"), "<strong>Right.</strong> The program prints this.", "right"))
    answers = sorted((digest(quiz.question, answer[0])[:12], *answer) for answer in answers)
    options = "".join(
        f'<li><label><input type="radio" name="{name}" value="{value}" autocomplete="off">'
        f"<samp>{html.escape(text)}</samp></label></li>"
        for value, text, _, _ in answers
    )
    reasons = "".join(f'<li class="it-{kind}">{said}</li>' for _, _, said, kind in answers)
    page, anchor = quiz.target
    href = html.escape(re.sub(r"\.\w+$", ".html", page) + "#" + anchor)
    return (
        f'<fieldset aria-describedby="hint-{name}"><legend>{prose(quiz.question)}</legend>{source_html}'
        f'<ol class="it-options" type="A">{options}</ol>'
        f'<p class="it-hint" id="hint-{name}">Arrow keys move, Enter answers.</p></fieldset>'
        f'<div class="it-verdict" role="status"></div><details><summary>Predict, then open</summary>{output_html}'
        f'<p>Explained in <a href="{href}">{prose(quiz.section.rpartition("#")[2])}</a>.</p>'
        f'<ol type="A">{reasons}</ol></details>'
    )


def progress_html(page_html: str) -> str:
    """The panel at the end of a page with quizzes; nothing for another page."""
    count = page_html.count('<div class="it-block it-quiz"')
    if not count:
        return ""
    return (
        '<section class="it-progress" aria-label="Your progress" data-search-exclude>'
        f"<p><strong>Your progress</strong> <output>0 of {count} right</output></p>"
        '<p><button type="button" name="export">Export</button> <label>Import<input class="it-hidden" type="file" '
        'accept=".json,application/json"></label> <button type="button" name="reset">Reset</button></p>'
        "<p>It stays in this browser. Export, import and reset are for all pages.</p></section>"
    )
