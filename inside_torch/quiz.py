"""Quizzes: a question, a program, why its answer is right, and wrong answers, each with the mistaken idea behind it.

The right answer is in no file: it is what the program prints. CONTRIBUTING.md shows the form of a `quiz` fence.
"""

import functools
import itertools
import re
from dataclasses import dataclass

from markdown.extensions.toc import slugify

HEAD = ("question", "section", "because")
PART = re.compile(r"^--- *(\w+) *$", re.M)
WRONG = range(2, 5)


@dataclass(frozen=True)
class Quiz:
    """A quiz as written. `start` is the number of lines above its program; each problem has its line (from 1)."""

    question: str
    section: str
    because: str
    program: str
    start: int
    wrong: tuple[tuple[str, str], ...]
    problems: tuple[tuple[int, str], ...]

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
    top, *rest = PART.split(source)
    head, programs, wrong, problems = {}, [], [], []
    for number, line in enumerate(top.split("\n"), 1):
        key, _, value = line.partition(":")
        if key in HEAD and key not in head:
            head[key] = value.strip()
        elif line.strip():
            problems.append((number, f"a quiz begins with {', '.join(HEAD)}, once each, not with `{line}`"))
    begun = top.count("\n") + 1
    for name, body in zip(rest[::2], rest[1::2]):
        if name == "program":
            programs.append((body[1:].rstrip(), begun))
        elif name == "wrong":
            text, _, because = body.partition("\nbecause:")
            wrong.append((text.strip("\n").rstrip(), " ".join(because.split())))
            if not text.strip():
                problems.append((begun, "this wrong answer is empty"))
            if not because.strip():
                problems.append((begun, "this wrong answer has no `because:`, the mistaken idea behind it"))
        else:
            problems.append((begun, f"a quiz has no part named `{name}`; there are program and wrong"))
        begun += body.count("\n")
    problems += [(0, f"this quiz has no `{key}:`") for key in HEAD if not head.get(key)]
    if len(programs) != 1 or not programs[0][0]:
        problems.append((0, "a quiz has one `--- program`"))
    if len(wrong) not in WRONG:
        problems.append((0, f"a quiz has {WRONG[0]} to {WRONG[-1]} wrong answers, and this one {len(wrong)}"))
    for (i, (a, _)), (j, (b, _)) in itertools.combinations(enumerate(wrong, 1), 2):
        if a and same(a, b):
            problems.append((0, f"the wrong answers {i} and {j} are equal"))
    program, start = programs[0] if programs else ("", 0)
    question, section, because = (head.get(key, "") for key in HEAD)
    return Quiz(question, section, because, program, start, tuple(wrong), tuple(sorted(problems)))


def objection(quiz: Quiz, output: str) -> str:
    """Why the output cannot be the one right answer; empty when it can."""
    if not output.strip():
        return "the program prints nothing, so there is nothing to predict"
    for number, (text, _) in enumerate(quiz.wrong, 1):
        if same(text, output):
            return f"wrong answer {number} is what the program prints"
    return ""
