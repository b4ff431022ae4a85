"""The rules of design: what a block and a page must look like, and that breaking a rule is noticed."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT

from inside_torch import gallery, quiz
from inside_torch.fences import Fence, fences

PAGES = {path.name: path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))}
# They lead to the chapters, or explain how these are drawn; test_exercises.py has the rules of an exercise.
NO_CHAPTERS = re.compile(r"(?:index|figures|gallery|exercises|exercise-.+)\.md")
CHAPTERS = {name: text for name, text in PAGES.items() if not NO_CHAPTERS.fullmatch(name)}
PARTS = ["Why", "Build it", "When it breaks", "In the source", "Check yourself", "Recap"]

UNSTABLE = {
    r"#\s*(?:prints?|outputs?|returns|-+>|=+>)\b": "types an output into a comment",
    r"print\([^()]*(?:\bid\(|hex\(id)": "prints an address",
    r"time\.(?:time|perf_counter|monotonic)\(": "measures time",
    r"torch\.get_num_threads\(": "prints the number of threads",
    r"os\.getcwd\(|\.resolve\(\)": "prints a path",
}
SOFT = re.compile(r"\b(?:simply|obviously|of course|just|easily)\b", re.I)


def broken_rules(fence: Fence) -> list[str]:
    """What a block does that no block of the book may."""
    lines = fence.program.split("\n")
    rules = []
    if len(lines) > 25:
        rules.append(f"has {len(lines)} lines")
    if max(map(len, lines)) > 76:
        rules.append(f"is {max(map(len, lines))} columns wide")
    rules += [what for pattern, what in UNSTABLE.items() if re.search(pattern, fence.program)]
    if re.search(r"\brandn?\(|randperm|randint", fence.program) and "manual_seed" not in fence.program:
        rules.append("draws without a seed")
    return rules


def soft_words(text: str) -> list[str]:
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    return SOFT.findall(prose)


def missing_parts(text: str) -> list[str]:
    """The parts of a chapter that no heading announces."""
    headings = re.findall(r"^## (.+)$", text, re.M)
    return [part for part in PARTS if not any(heading.startswith(part) for heading in headings)]


def unasked_sections(text: str, name: str) -> list[str]:
    """The main sections of a chapter that no quiz asks about, neither as a whole nor in a part of theirs."""
    asked = {quiz.parse(fence.source).section for fence in fences(text, name)[0] if fence.info == "quiz"}
    sections: list[list[str]] = []
    for level, heading in re.findall(r"^(###?) (.+)$", re.sub(r"```.*?```", "", text, flags=re.S), re.M):
        sections += [[heading]] if level == "##" else []
        sections[-1].append(heading)
    return [main for main, *within in sections if not main.startswith(tuple(PARTS)) and not asked.intersection(within)]


@pytest.mark.parametrize("name", PAGES)
def test_blocks_keep_the_rules(name):
    found, problems = fences(PAGES[name], name)
    assert not problems
    broken = [f"{name}:{fence.line} {rule}" for fence in found if fence.runs for rule in broken_rules(fence)]
    assert not broken


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_has_its_parts(name):
    assert missing_parts(CHAPTERS[name]) == []
    found, _ = fences(CHAPTERS[name], name)
    assert 12 <= sum(fence.info == "python" for fence in found) <= 30
    assert sum(fence.info == "figure" for fence in found) >= 1
    opening = CHAPTERS[name].split("```")[0].split("\n", 1)[1]
    assert 40 <= len(opening.split()) <= 80
    prose = re.sub(r"```.*?```", "", CHAPTERS[name], flags=re.S)
    assert 1500 <= len(prose.split()) <= 3000


@pytest.mark.parametrize("name", CHAPTERS)
def test_each_main_section_has_a_quiz(name):
    assert unasked_sections(CHAPTERS[name], name) == []
    for fence in fences(CHAPTERS[name], name)[0]:
        for answer, _ in quiz.parse(fence.source).wrong if fence.info == "quiz" else ():
            assert max(map(len, answer.split("\n"))) <= 76 and answer.count("\n") < 8, fence.line


@pytest.mark.parametrize("name", PAGES)
def test_the_voice(name):
    assert soft_words(PAGES[name]) == []
    assert len(re.findall(r"^\s*!!! ", PAGES[name], re.M)) <= 2


def test_every_example_is_shown_by_a_page():
    shown = set(re.findall(r'--8<-- "(examples/[^":]+)', "".join(map(gallery.expanded, PAGES.values()))))
    assert {f"examples/{path.name}" for path in (ROOT / "examples").glob("*.py")} <= shown


@pytest.mark.parametrize(
    ("source", "said"),
    {
        "x = 1\n" * 26: "has 27 lines",
        "x = '" + "a" * 80 + "'": "is 86 columns wide",
        "print(3)  # prints 3": "types an output",
        "print(id(3))": "prints an address",
        "import torch\nprint(torch.rand(3))": "draws without a seed",
    }.items(),
)
def test_a_broken_rule_is_noticed(source, said):
    assert any(rule.startswith(said) for rule in broken_rules(Fence("python", source, 1)))


def test_soft_words_and_missing_parts_are_noticed():
    assert soft_words("It is simply so.\n```python\njust = 1\n```") == ["simply"]
    assert unasked_sections("# T\n\n## Why\n\n## How\n\n### So\n\n## Recap\n", "t.md") == ["How"]
    asked = "```quiz\nsection: So\n```\n"
    assert unasked_sections(f"# T\n\n## Why\n\n## How\n\n### So\n\n## Recap\n{asked}", "t.md") == []
    assert missing_parts("# T\n\n## Why so\n\n## Recap\n") == [
        "Build it",
        "When it breaks",
        "In the source",
        "Check yourself",
    ]
