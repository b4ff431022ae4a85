"""CONTRIBUTING.md says what is so: the house, the commands, the rules and the variables of the environment."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

from inside_torch import rules
from inside_torch.edition import PASSED_ON, PINNED

TEXT = (ROOT / "CONTRIBUTING.md").read_text()
PICTURE = re.search(r"## The house\n\n```text\n(.*?)```", TEXT, re.S)[1]
UNTOLD = re.compile(r"\.gitignore|docs/[^/]+|.*/__init__\.py")  # each page of docs/ is in the navigation
FOREIGN = {"CXX", "PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS", "TMPDIR"}  # what others set, and what a block is given
READ = re.compile(r'environ(?:\.get\(|\.setdefault\(|\[)"(\w+)"|!ENV \[(\w+)|\b(INSIDE_TORCH_\w+)')
KINDS = {"page": "any page", "chapter": "a chapter", "exercise": "an exercise"}


def drawn(picture: str) -> set[str]:
    """The paths in a picture of the house: what is indented stands in the folder above it."""
    found, folder = set(), ""
    for indent, name in re.findall(r"^( *)(\S+) {2,}\S.*$", picture, re.M):
        folder = folder if indent else name
        found.add(folder + name if indent else name)
    assert len(found) == picture.count("\n"), "each line has a name and says what it is"
    return found


def there(files: list[str], picture: set[str]) -> set[str]:
    """What a picture should show of these files: all that lies in the root, and in the folders that it opens."""
    opened = {path.partition("/")[0] for path in picture if path.rstrip("/").count("/")}
    parts = [path.split("/") for path in files]
    found = {"/".join(one[:depth]) + "/" * (len(one) > depth) for one in parts for depth in (1, 2) if len(one) >= depth}
    return {
        one
        for one in found
        if not UNTOLD.fullmatch(one) and (one.rstrip("/").count("/") == 0 or one.split("/")[0] in opened)
    }


def variables(text: str) -> set[str]:
    """The names of the environment that code reads, and all names that are ours alone."""
    return {name for names in READ.findall(text) for name in names if name}


def code() -> str:
    """Everything that may read the environment."""
    files = [*(ROOT / "inside_torch").rglob("*.py"), *(ROOT / "tests").glob("*.py"), *ROOT.glob("*.py")]
    files += [ROOT / "Makefile", ROOT / "mkdocs.yml", ROOT / ".ci" / "run", *(ROOT / ".github").rglob("*.yml")]
    return "\n".join(path.read_text() for path in files if path != Path(__file__))


def table(heading: str) -> list[str]:
    """The rows of the section's tables that begin with a name."""
    section = TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [line for line in section.split("\n") if line.startswith("| `")]


def kept() -> list[str]:
    """The files that git keeps."""
    return subprocess.check_output(["git", "-C", ROOT, "ls-files"], text=True).splitlines()


def test_the_picture_of_the_house_is_the_house():
    picture = drawn(PICTURE)
    assert picture == there(kept(), picture)


@pytest.mark.parametrize("change", [("  book.py  ", "  books.py  "), ("  run/   .*\n", ""), ("Makefile  .*\n", "")])
def test_another_house_is_noticed(change):
    picture = drawn(re.sub(*change, PICTURE))
    assert picture != drawn(PICTURE) and picture != there(kept(), picture)


def test_a_new_room_is_noticed():
    picture = drawn(PICTURE)
    now = there(kept(), picture)
    for file in ("new.md", "inside_torch/new.py", "inside_torch/new/room.py", "docs/new/page.md", "new/file"):
        assert len(there([*kept(), file], picture)) == len(now) + 1
    assert there([*kept(), "docs/new.md", "inside_torch/run/new.py", "tests/test_new.py"], picture) == now


def test_each_rule_is_told_with_its_reason():
    told = table("The rules")
    of_kinds = [(kind, rules.reason(rule).split(": ", 1)) for kind in rules.RULES for rule in rules.RULES[kind]]
    assert told == [f"| `{name}` | {KINDS[kind]} | {why} |" for kind, (name, why) in of_kinds]


def test_each_variable_that_is_read_stands_in_the_table_and_no_other():
    told = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", "\n".join(table("Variables of the environment")), re.M))
    assert variables(code()) - FOREIGN - PINNED.keys() - {*PASSED_ON} == told.keys()
    assert list(told) == sorted(told) and all(told.values())


def test_a_variable_that_is_read_is_noticed():
    text = 'os.environ.get("A", "")\nenviron["B"]\n!ENV [C, ""]\nos.environ.setdefault("D", "")\nX = "INSIDE_TORCH_E"'
    assert variables(text) == {"A", "B", "C", "D", "INSIDE_TORCH_E"}


def test_each_command_is_told():
    targets = re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.M)
    commands = "\n".join(table("Commands"))
    assert len(targets) > 10
    assert [name for name in targets if not re.search(rf"`make {name}[` ]", commands)] == []
