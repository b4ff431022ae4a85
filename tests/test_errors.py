"""The error museum: each exhibit raises its message, proves the line behind it, and ends in a program that runs."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from itertools import pairwise

import pytest
from conftest import ROOT, build, fence

from inside_torch import citations
from inside_torch.citations import live
from inside_torch.edition import Edition
from inside_torch.fences import Fence, parse

PAGES = ("errors.md", "errors-shapes.md", "errors-devices.md")
FEWEST = 12
LONG = 20  # a shorter constant of a Python function is no message


def on_one_line(text: str) -> str:
    return " ".join(text.split())


def exhibits(text: str) -> dict[str, str]:
    """The sections under a heading of level three, by heading."""
    lines = text.split("\n")
    for found in parse(text)[0]:
        for number in range(found.line, found.line + found.source.count("\n") + 1):
            lines[number] = lines[number].replace("#", " ")
    marks = [n for n, line in enumerate(lines) if re.match("##+ ", line)] + [len(lines)]
    whole = text.split("\n")
    return {
        whole[a].removeprefix("### "): "\n".join(whole[a + 1 : b])
        for a, b in pairwise(marks)
        if whole[a].startswith("### ")
    }


@cache
def raised_by_checks() -> dict[str, str]:
    """What each program in checks.py raises, without the place that raised it."""
    raised = json.loads(build().proofs.wheel.output(live.programs("check#")[0]))
    return {name: on_one_line(message.split("Exception raised from ")[0]) for name, message in raised.items()}


def says(node: ast.AST) -> bool:
    """Whether a statement makes a message: it raises or names one, collects it, or hands it to an exception's class."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr
    return isinstance(node, ast.Raise | ast.Assign) or called in ("append", "__init__")


def texts_of(path: str, symbol: str) -> list[str]:
    """The longer string constants in a Python function that ships with torch."""
    tree = ast.parse((Edition().packages / path).read_text())
    *scopes, name = symbol.split(".")
    for scope in scopes:
        tree = next(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == scope)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name]
    raised = [node for function in functions for node in ast.walk(function) if says(node)]
    constants = [node.value for one in raised for node in ast.walk(one) if isinstance(node, ast.Constant)]
    return [on_one_line(one) for one in constants if isinstance(one, str) and len(one) >= LONG]


def proven(reference: str, said: str) -> str:
    """The message in `said` whose origin `reference` proves; nothing when it proves none."""
    path, _, symbol = reference.partition("#")
    if path == "check":
        message = raised_by_checks().get(symbol, "")
        return message if message and message in said else ""
    if path.endswith(".py") and symbol:
        return next((one for one in texts_of(path, symbol) if one in said), "")
    return ""


def shown(block: Fence) -> str:
    result = build().result(block)
    assert not result.failed, result.failure
    return on_one_line(result.output)


def look(heading: str, text: str) -> tuple[str, list[str]]:
    """The message of an exhibit, and what the exhibit lacks."""
    blocks = [found for found in parse(text)[0] if found.info == "python"]
    raising = [block for block in blocks if "except " in block.source]
    if not raising:
        return "", ["raises nothing"]
    said = " ".join(map(shown, raising))
    messages = [message for _, one in citations.references(text, parse(text)[0]) if (message := proven(one, said))]
    missing = [] if messages else ["no citation proves the line of a message that is shown whole"]
    pieces = [piece.strip().lower() for piece in heading.split("…") if piece.strip()]
    if not all(piece in said.lower() for piece in pieces):
        missing.append("its heading has other words than its message")
    fixes = [block for block in blocks if block.line > raising[-1].line and "except " not in block.source]
    if not fixes:
        missing.append("no program after it mends it")
    for block in fixes:
        shown(block)
    return messages[0] if messages else "", missing


def halls() -> dict[str, str]:
    return {heading: text for name in PAGES for heading, text in exhibits((ROOT / "docs" / name).read_text()).items()}


def test_each_exhibit_raises_proves_and_mends():
    found = {heading: look(heading, text) for heading, text in halls().items()}
    assert {heading: missing for heading, (_, missing) in found.items() if missing} == {}
    messages = {message for message, _ in found.values()}
    assert len(messages) == len(found) >= FEWEST


RAISES = """\
import torch

try:
    torch.tensor([1, 2], requires_grad=True)
except RuntimeError as error:
    print(error)"""
HEADING = "Only Tensors of … complex dtype"
LINK = "[The check](src:check#integer-grad) says so."
MENDS = "import torch\n\nprint(torch.tensor([1.0, 2.0], requires_grad=True))"
EXHIBIT = f"{fence(RAISES)}\n{LINK}\n\n{fence(MENDS)}"


def test_a_good_exhibit_is_taken():
    page = f"# Museum\n\n## Hall\n\n### {HEADING}\n\n{EXHIBIT}\n## Recap\n\nNothing.\n"
    ((heading, text),) = exhibits(page).items()
    message = "Only Tensors of floating point and complex dtype can require gradients"
    assert look(heading, text) == (message, [])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (fence(RAISES), fence("print('Only Tensors')"), "raises nothing"),
        (LINK, "The check says so.", "no citation proves"),
        (LINK, LINK.replace("integer-grad", "leaf-in-place"), "no citation proves"),
        (LINK, "[A file](src:torch/csrc/autograd/variable.h#AutogradMeta).", "no citation proves"),
        ("print(error)", "print(str(error)[:40])", "no citation proves"),
        (fence(MENDS), "", "no program after it mends it"),
        (fence(MENDS), fence(RAISES), "no program after it mends it"),
    ],
)
def test_an_exhibit_that_lacks_something_is_noticed(old, new, said):
    assert old in EXHIBIT
    _, missing = look(HEADING, EXHIBIT.replace(old, new))
    assert any(one.startswith(said) for one in missing)


def test_a_heading_that_no_search_finds_is_noticed():
    assert look("Integers have no gradient", EXHIBIT)[1] == ["its heading has other words than its message"]


def test_a_message_of_python_is_proven_by_its_function():
    said = "grad can be implicitly created only for scalar outputs"
    assert proven("torch/autograd/__init__.py#_make_grads", said) == said
    assert proven("torch/autograd/__init__.py#backward", said) == ""
    assert proven("torch/nn/modules/module.py#Module.register_full_backward_hook", said) == ""
