"""Exercises whose checks are proven: solutions pass, and each mistake fails for a reason of its own."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT

from inside_torch import edition, exercises, overview
from inside_torch.blocks import MODULES, turn, usable_cores
from inside_torch.cache import digest
from inside_torch.runner import Outcome, Runner

NAMES = exercises.names()
PAGES = {name: ROOT / "docs" / f"exercise-{name}.md" for name in NAMES}
PROGRAM = "import json\nfrom inside_torch.exercises import judged\nprint(json.dumps(judged({!r}, {!r})))"


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """Forks of a server that has torch imported, as the build runs blocks."""
    runner = Runner()
    yield runner
    runner.close()


@dataclass
class Exercise:
    """What each file of an exercise leads to: the check's verdict, and what the starter prints by itself."""

    verdicts: dict[str, tuple[bool, str]]
    started: Outcome


def verdict(outcome: Outcome) -> tuple[bool, str]:
    """The verdict a checking process printed last, after all that the learner's file prints."""
    lines = outcome.stdout.decode().splitlines()
    if outcome.status or not outcome.finished or not lines:
        return False, f"crashed with status {outcome.status}: {outcome.stopped} {outcome.stderr.decode()}"
    return tuple(json.loads(lines[-1]))


@pytest.fixture(scope="module", params=NAMES)
def exercise(request: pytest.FixtureRequest, runner: Runner) -> tuple[str, Exercise]:
    """One exercise with all its files checked, side by side, each in a process of its own."""
    folder = exercises.FOLDER / request.param
    files = [folder / "start.py", folder / "solution.py", *sorted(folder.glob("wrong/*.py"))]
    texts = [path.read_text() for path in [folder / "check.py", *files]]
    modules = (*MODULES[turn("\n".join(texts))], "sympy")  # a custom Function imports it when first used
    built = digest(edition.fingerprint(), *texts)[:12]

    def check(path: Path) -> tuple[bool, str]:
        extensions = edition.extensions() / f"{built}-{path.stem}"
        return verdict(runner.run(PROGRAM.format(request.param, str(path)), (str(ROOT),), modules, extensions))

    with ThreadPoolExecutor(usable_cores()) as pool:
        started = pool.submit(runner.run, files[0].read_text(), (), modules)
        verdicts = dict(zip([str(path.relative_to(folder)) for path in files], pool.map(check, files)))
    return request.param, Exercise(verdicts, started.result())


def promises(name: str) -> dict[str, str]:
    """The part of the explanation that the first line of each wrong solution promises."""
    first = {path: path.read_text().partition("\n")[0] for path in (exercises.FOLDER / name).glob("wrong/*.py")}
    return {f"wrong/{path.name}": line.removeprefix("# says: ") for path, line in first.items()}


def unproven(verdicts: dict[str, tuple[bool, str]], promised: dict[str, str]) -> list[str]:
    """Which wrong solutions pass, or fail for another reason than their own."""
    found = []
    for file, promise in promised.items():
        right, said = verdicts[file]
        said = " ".join(said.split())
        others = [other for other in promised.values() if other != promise and other in said]
        if right or promise not in said or others:
            found.append(f"{file} promises `{promise}`, but the check says: {said}")
    return found


def test_the_solution_passes(exercise):
    _, checked = exercise
    assert checked.verdicts["solution.py"] == (True, "right: solution.py does what the exercise asks")


def test_the_starter_says_what_is_missing_and_fails(exercise):
    _, checked = exercise
    right, said = checked.verdicts["start.py"]
    assert not right and said.startswith(("not written yet: ", "wrong: "))
    assert checked.started.status == 0 and checked.started.stderr == b""
    assert checked.started.stdout.count(b"\n") == 1


def test_each_mistake_fails_for_its_own_reason(exercise):
    name, checked = exercise
    promised = promises(name)
    assert len(promised) >= 5
    assert len(set(promised.values())) == len(promised)
    assert unproven(checked.verdicts, promised) == []


def hidden(text: str) -> dict[str, str]:
    """What each closed disclosure of a page holds, by its title."""
    found = re.findall(r'^\?\?\? \w+ "(.+)"\n((?:    .*\n|\n)+)', text, re.M)
    return {title: textwrap.dedent(content) for title, content in found}


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_hints_and_hides_the_solution(name):
    text = PAGES[name].read_text()
    files = f"examples/exercises/{name}"
    assert f'```python title="{files}/start.py"\n--8<-- "{files}/start.py"\n```' in text
    assert f"make check EX={name}\n" in text
    assert re.search(r"\]\([\w-]+\.md", text), "a link to its chapter"
    assert overview.TITLE.search(text) and overview.LESSON.search(text)
    closed = hidden(text)
    assert len([title for title in closed if title.startswith("Hint")]) >= 2
    shown = f'--8<-- "{files}/solution.py"'
    assert shown in closed["Solution"] and text.count(shown) == 1
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    assert 200 <= len(prose.split()) <= 700


def test_every_exercise_is_in_the_navigation_and_in_the_overview():
    listed = re.findall(r"\(exercise-([\w-]+)\.md\)", "\n".join(overview.table()))
    assert sorted(listed) == NAMES
    assert "\n[exercises]\n" in (ROOT / "docs" / "exercises.md").read_text()


def test_a_promise_that_is_not_kept_is_noticed():
    promised = {"wrong/a.py": "rounded down", "wrong/b.py": "the offset"}
    assert unproven({"wrong/a.py": (False, "wrong: rounded\ndown"), "wrong/b.py": (True, "right")}, promised) == [
        "wrong/b.py promises `the offset`, but the check says: right"
    ]
    said = (False, "wrong: the offset is rounded down")
    assert len(unproven({"wrong/a.py": said, "wrong/b.py": said}, promised)) == 2


TOY = """\
from inside_torch.exercises import compare

PLAIN = True


def check(work):
    ideas = {"This adds.": lambda a, b: a + b}
    compare("times", [(2, 2), (3, 4)], work.times, lambda a, b: a * b, ideas, "It multiplies.")
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A learner's file, to be written, of an exercise `toy`: multiply two numbers."""
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "check.py").write_text(TOY)
    monkeypatch.setattr(exercises, "FOLDER", tmp_path)
    monkeypatch.setenv("INSIDE_TORCH_EXERCISES", str(tmp_path))
    return tmp_path / "mine.py"


@pytest.mark.parametrize(
    ("source", "said"),
    {
        "times = lambda a, b: a * b\n": "right: mine.py does",
        "times = lambda a, b: a + b\n": "wrong: times(3, 4)\n  gave      7\n  expected  12\nThis adds.",
        "times = lambda a, b: a\n": "wrong: times(2, 2)\n  gave      2\n  expected  4\nIt multiplies.",
        "def times(a, b)\n": "wrong: line 1 of mine.py is not Python",
        "def times(a, b):\n    return a[b]\n": "wrong: line 2 of mine.py raised an error\n    return a[b]\nTypeError",
        "def times():\n    return 1\n": "wrong: the check could not use what mine.py gave it; line ",
        "def add(a, b):\n    return 1\n": "wrong: mine.py defines no `times`; start.py shows",
        "def times(a, b):\n    raise NotImplementedError('write it')\n": "not written yet: write it (mine.py, line 2)",
        "import numpy.linalg\n": "wrong: the file imports `numpy.linalg`",
        "def times(a, b):\n    import sys\n": "wrong: the file imports `sys`",
        "raise SystemExit(80)\n": "wrong: mine.py ends the program",
    }.items(),
)
def test_what_is_wrong_with_a_file_is_said(toy: Path, source, said):
    toy.write_text(source)
    right, text = exercises.judged("toy", toy)
    assert text.startswith(said)
    assert right == said.startswith("right")


@pytest.mark.parametrize(
    ("source", "status", "said"),
    [
        ("def times(a, b):\n    return a * b\n", 0, "right: mine.py does what the exercise asks\n"),
        ("def times(a, b):\n    return a - b\n", 1, "wrong: times(2, 2)\n"),
        ("import os\nos._exit(0)\n", 1, "mine.py ended the process (status 0) before the check was over"),
        ("while True:\n    pass\n", 1, "longer than 2 seconds"),
    ],
)
def test_the_command_ends_with_the_verdict(toy: Path, monkeypatch, capfd, source, status, said):
    monkeypatch.setattr(exercises, "DEADLINE", 2 if "while" in source else 60)
    toy.write_text(source)
    assert exercises.run("toy", toy) == status
    assert said in capfd.readouterr().out


def test_calls_are_seen():
    seen = []
    with exercises.calls(lambda file, name: seen.append((Path(file).name, name))):
        textwrap.dedent("a")
        len("a")
    assert ("textwrap.py", "dedent") in seen and ("test_exercises.py", "len") in seen


def test_an_unknown_exercise_and_a_missing_file_are_named(toy: Path, capsys):
    assert exercises.run("tory") == 1
    assert capsys.readouterr().out == "there is no exercise `tory`; there are toy\n"
    assert exercises.run("toy", "nowhere.py") == 1
    assert "there is no file" in capsys.readouterr().out
