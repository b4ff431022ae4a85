"""Each rule of a page is seen to fail on a page that breaks it, and `make page` and `make serve` say so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import fence

from inside_torch import approved, rules
from inside_torch.build import Build
from inside_torch.edition import Edition
from inside_torch.fences import Fence
from inside_torch.render.fences import block_name
from inside_torch.tools import page as tool
from inside_torch.tools.compare import write

MINE = "# T\n\n"
ROPES = "# Ropes\n\nA *knot* is a loop.\n"
HEX = "print('<object at', '0x' + 'f', end='')\nprint('>')"
FIGURE = "import torch\nfrom inside_torch.figures import storage_strip\nx = torch.arange(6)\n"
FIGURE += "print(storage_strip({'x': x}, title='One storage'))"
FOLDED = "a = 1\n" * 10 + "# ---\n" + "x = 1\n" * 18 + "x = 1"
QUIZ = "question: What?\nsection: {}\nbecause: a\n--- program\nprint(1)\n"
QUIZ += "--- wrong\n2\nbecause: b\n--- wrong\n{}\nbecause: c"


def quiz(section: str = "T", wrong: str = "3") -> str:
    return fence(QUIZ.format(section, wrong), "quiz")


# rule, page, its text, and the line and the text of what breaks the rule; no text: the page keeps the rule
CASES = [
    (rules.length, "x", MINE + fence("x = 1\n" * 25 + "x = 1"), 3, "has 26 lines in view, 26 with the fold"),
    (
        rules.length,
        "x",
        MINE + fence("a = 1\n" * 6 + "# ---\n" + "x = 1\n" * 23 + "x = 1"),
        3,
        "has 24 lines in view, 31",
    ),
    (rules.length, "x", MINE + fence(FOLDED), 0, ""),
    (rules.width, "x", MINE + fence("x = 1\ny = '" + "a" * 80 + "'"), 5, "is 86 columns wide"),
    (rules.width, "x", MINE + fence("a" * 77, "cpp"), 4, "is 77 columns wide"),
    (rules.width, "x", MINE + fence("a" * 76, "cpp"), 0, ""),
    (rules.apart, "x", MINE + fence("x = 1") + "So:\n", 6, "follows a fence without a blank line"),
    (rules.apart, "x", MINE + fence("x = 1") + "\nSo:\n", 0, ""),
    (rules.stable, "x", MINE + fence("x = 1\nprint(id(x) > 0)"), 5, "prints an address"),
    (rules.stable, "x", MINE + fence("print(object())"), 3, "prints an address: 0x…"),
    (rules.stable, "x", MINE + fence("print('0x7' + 'f' * 9)"), 3, "prints an address: 0x7fff"),
    (rules.stable, "x", MINE + fence("print('0x9400010001')"), 0, ""),
    (rules.stable, "x", MINE + fence("import time\nprint(time.time() > 0)"), 5, "measures time"),
    (rules.stable, "x", MINE + fence("import torch\ntorch.get_num_threads()"), 5, "prints the number of threads"),
    (rules.stable, "x", MINE + fence("import os\nos.getcwd()"), 5, "prints a path"),
    (rules.stable, "x", MINE + fence("import torch\ntorch.rand(3)"), 4, "draws without a seed"),
    (rules.stable, "x", MINE + quiz().replace("print(1)", "import torch; torch.randn(3)"), 8, "draws without a seed"),
    (rules.stable, "x", MINE + fence("import torch\ntorch.manual_seed(0)\ntorch.rand(3)"), 0, ""),
    (rules.typed, "x", MINE + fence("x = 1\nprint(3)  # prints 3"), 5, "types an output into a comment: prints 3"),
    (rules.typed, "x", MINE + fence("x = 1 + 1  # -> 2"), 4, "types an output into a comment: -> 2"),
    (rules.typed, "x", MINE + fence("x = (1, 2)  # (1, 2)"), 4, "types an output into a comment: (1, 2)"),
    (rules.typed, "x", MINE + fence("x = 1 == 1  # True"), 4, "types an output into a comment: True"),
    (rules.typed, "x", MINE + fence("x = 1\n# tensor([1., 2.])"), 5, "types an output into a comment: tensor([1."),
    (rules.typed, "x", MINE + fence("print('a', 'leaf')  # a leaf"), 4, "types an output into a comment: a leaf"),
    (rules.typed, "x", MINE + fence("x = [1, 2]  # 2 rows, printed below\nprint(x)"), 0, ""),
    (
        rules.typed,
        "x",
        MINE + fence("x = 1") + "\n" + fence("anything", "text"),
        7,
        "looks like the output of the block on",
    ),
    (
        rules.typed,
        "x",
        MINE + fence("print('seen')") + "\nSo:\n\n" + fence("it is seen\nseen", "text"),
        9,
        "looks like",
    ),
    (rules.typed, "x", MINE + fence("print('seen')") + "\nSo:\n\n" + fence("a new thing", "text"), 0, ""),
    (rules.voice, "x", MINE + "\nIt is so.\n\nIt is simply so.", 6, "says `simply`"),
    (rules.voice, "x", MINE + fence("just = 1"), 0, ""),
    (rules.admonitions, "x", MINE + "!!! note\n    a\n\n" * 3, 9, "is one admonition too many"),
    (rules.admonitions, "x", MINE + "!!! note\n    a\n\n" * 2, 0, ""),
    (rules.terms, "x", MINE + "It is a *leaf*.\n\nThis is a *leaf*.", 5, "defines `leaf`, as line 3 does"),
    (rules.terms, "x", MINE + "It is a *leaf*.\n\nThis leaf is *old*.", 0, ""),
    (rules.introduced, "x", MINE + "\nA\nknot is tied.", 5, "uses `knot`, which xy.md defines later"),
    (rules.introduced, "x", MINE + "A knot ([Ropes](xy.md#k)) is tied. `knot`", 0, ""),
    (rules.introduced, "x", MINE + "A [knot](reference/glossary.md#knot) is tied. A knot holds.", 0, ""),
    (rules.introduced, "x", MINE + "A *knot* is tied.", 0, ""),
    (rules.introduced, "xy", ROPES + "A knot is tied.", 0, ""),
    (rules.glossed, "x", MINE + "<!-- glossary\nknot: It holds.\n-->", 0, ""),
    (rules.glossed, "x", MINE + "<!-- glossary\nnot: It holds.\n-->", 3, "- **not**: no chapter defines this term"),
    (rules.answers, "x", MINE + quiz(wrong="4" * 77), 3, "has an answer that is too large: 444"),
    (rules.answers, "x", MINE + quiz(wrong="\n".join("123456789")), 3, "has an answer that is too large: 1"),
    (rules.answers, "x", MINE + quiz(wrong="\n".join("12345678")), 0, ""),
    (rules.navigation, "y", MINE, 1, "is not in the nav of mkdocs.yml"),
    (rules.navigation, "x", MINE, 0, ""),
    (rules.links, "x", MINE + "See\n[this](z.md).", 4, "leads to z.md, which is no page"),
    (rules.links, "x", MINE + "[this](#u)", 3, "leads to `#u`, which no heading of docs/x.md is called"),
    (
        rules.links,
        "exercises/x",
        MINE + "[this](../home.md#gone)",
        3,
        "leads to `#gone`, which no heading of docs/home.md",
    ),
    (rules.links, "exercises/x", MINE + "[this](../home.md#a-home) `[that](z.md)`", 0, ""),
    (rules.links, "x", MINE + quiz("Elsewhere"), 3, "leads to `#elsewhere`, which no heading"),
    (rules.links, "x", MINE + quiz("T"), 0, ""),
    (rules.examples, "x", MINE + '--8<-- "examples/bare.py"', 3, "shows bare.py, which does not begin with a thesis"),
    (
        rules.examples,
        "x",
        MINE + '--8<-- "examples/lost.py:part"',
        3,
        "shows lost.py, whose output is not in examples/",
    ),
    (
        rules.examples,
        "x",
        MINE + '--8<-- "examples/toytorch/lost.py"',
        3,
        "shows toytorch/lost.py, whose output is not",
    ),
    (rules.examples, "x", MINE + '--8<-- "examples/good.py"', 0, ""),
    (
        rules.approved,
        "home",
        "# A home\n\n" + fence("print(2)"),
        3,
        "the output changed: print(2)\n--- approved\n+++ now",
    ),
    (
        rules.approved,
        "home",
        "# A home\n\n" + fence("print(1)") + fence(FIGURE, "figure"),
        6,
        "not approved yet: figure: One",
    ),
    (rules.approved, "home", "# A home\n", 1, "no longer there: print(2)"),
    (
        rules.approved,
        "x",
        MINE + "[a](src:torch/_tensor.py#Tensor)",
        3,
        "the citation src:torch/_tensor.py#Tensor is not",
    ),
    (rules.approved, "x", MINE + fence("print(5)").replace("5", "1 / 0"), 0, ""),
    (rules.compared, "home", "# A home\n\n" + fence("print(2)"), 3, "torch 9.0.0 prints something else, and why.yaml"),
    (rules.compared, "home", "# A home\n\n" + fence("print(3)"), 1, "torch 9.0.0 is recorded of a block that is no"),
    (rules.chapter, "x", "# T\n\n## Why so\n\n## Recap\n", 1, "has no part `Build it`"),
    (rules.chapter, "x", MINE + "One two.\n", 1, "opens with 2 words"),
    (rules.chapter, "x", MINE + "After this page, you can.\n", 1, "does not say `After this page you can"),
    (rules.chapter, "x", MINE + fence("x = 1"), 1, "has 1 blocks, 0 figures and 2 words"),
    (rules.quizzed, "x", "# T\n\n## Why\n\n## How\n\n### So\n\n## Recap\n", 5, "has no quiz about `How`"),
    (rules.quizzed, "x", "# T\n\n## Why\n\n## How\n\n### So\n\n## Recap\n" + quiz("So"), 0, ""),
    (rules.exercise, "exercises/x", MINE + "One two.", 1, "has 0 hints and 4 words"),
    (rules.exercise, "exercises/x", MINE + "make check EX=y\n", 1, "does not say `make check EX=x`"),
    (rules.exercise, "exercises/x", MINE + '??? tip "Hint 1"\n' * 2, 1, "does not say `## What it teaches`"),
]
README = "## Topic\n\n### good.py\n\n<!--pytest-codeblocks:expected-output-->\n```\n1\n```\n"


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Build]:
    """A function that makes a book with a home page and the page that it is given."""
    monkeypatch.setattr(rules, "is_edition", lambda: True)
    (tmp_path / "mkdocs.yml").write_text("nav:\n  - x.md\n  - X: exercises/x.md\n  - xy.md\n")
    for folder in ("docs/exercises", "examples", "tests/approved"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "docs" / "home.md").write_text("# A home\n")
    (tmp_path / "docs" / "xy.md").write_text(ROPES)
    (tmp_path / "tests/approved/home.md.txt").write_text("print(2)\n    1\n")
    recorded = tmp_path / "tests/approved/torch-9.0.0"
    write(recorded, {"home.md": [approved.Shown(f"{block_name(Fence('python', 'print(2)', 0))} print(2)", "3")]}, {})
    (tmp_path / "tests/approved" / approved.CITATIONS).write_text(json.dumps({"citations": {}}))
    (tmp_path / "examples" / "README.md").write_text(README)
    for name, thesis in {"bare": "It is easily said", "lost": "It is so.", "good": "It is so."}.items():
        (tmp_path / "examples" / f"{name}.py").write_text(f'"""{thesis}"""\n# --8<-- [start:part]\nx = 1\n')

    def written(src: str, text: str) -> Build:
        (tmp_path / "docs" / f"{src}.md").write_text(text)
        return Build(Edition(), tmp_path)

    return written


@pytest.mark.parametrize(("rule", "src", "text", "line", "said"), CASES)
def test_a_broken_rule_is_noticed_on_its_line(small, rule, src, text, line, said):
    build = small(src, text)
    found = list(rule(build.book.page(f"{src}.md"), build))
    assert any(where == line and what.startswith(said) for where, what in found) if said else found == []


def test_every_rule_has_a_page_that_breaks_it_and_a_reason():
    every = {rule for some in rules.RULES.values() for rule in some}
    assert {rule for rule, *_, said in CASES if said} == every
    assert all(rule.__doc__ for rule in every)


def test_rules_of_chapters_are_for_chapters(small):
    for src, kind in {"x": "chapter", "exercises/x": "exercise", "exercises/index": "page"}.items():
        build = small(src, "# T\n")
        said = {one.details.split(":")[0].strip() for one in rules.broken(build.book.page(f"{src}.md"), build)}
        others = {rule.__name__ for other in rules.RULES for rule in rules.RULES[other] if other not in ("page", kind)}
        assert not said & others
        assert kind == "page" or said & {rule.__name__ for rule in rules.RULES[kind]}


def test_one_page_is_told_with_lines_and_reasons_and_only_its_blocks_run(small, monkeypatch, capsys):
    (small("home", fence("raise SystemExit('never run')")).book.docs / "xy.md").write_text("# XY\n")
    text = MINE + "It is simply $\\frac$.\n\n" + fence("print('half')\n1 / 0") + "\n[a](src:torch/no.py#X)\n"
    build = small("exercises/x", text)
    ran, run = [], build.blocks.run
    monkeypatch.setattr(build.blocks, "run", lambda one: ran.append(one) or run(one))
    monkeypatch.setattr(tool, "Build", lambda edition: build)
    assert tool.main("docs/exercises/x.md") == 1
    said = capsys.readouterr().out
    assert [one.source for one in ran] == ["print('half')\n1 / 0"]
    assert "docs/exercises/x.md:5: it ended with status 1: ZeroDivisionError" in said and "half" in said
    assert f"docs/exercises/x.md:3: says `simply`\n  {rules.reason(rules.voice)}\n" in said
    assert "docs/exercises/x.md:10: the citation src:torch/no.py#X is not proven" in said
    assert "docs/exercises/x.md:3: " in said.partition("says")[0], "the formula"


def test_a_page_without_faults_and_an_unknown_one(small, monkeypatch, capsys):
    monkeypatch.setattr(tool, "Build", lambda edition: small("exercises/index", MINE + fence("x = 1")))
    monkeypatch.setitem(rules.RULES, "page", (rules.length,))
    assert tool.main("docs/exercises/index.md") == 0
    assert capsys.readouterr().out == "docs/exercises/index.md: nothing is wrong\n"
    assert tool.main("docs/nowhere.md") == 2
    assert "there is no page `docs/nowhere.md`; there are\n  docs/exercises/index.md\n" in capsys.readouterr().out
