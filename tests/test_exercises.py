"""Exercises whose checks are proven: solutions pass, and each mistake fails for a reason of its own."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from conftest import BOOK
from nbclient import NotebookClient

from inside_torch.edition import Edition
from inside_torch.render import tables
from inside_torch.run.blocks import usable_cores
from inside_torch.run.cache import digest
from inside_torch.run.runner import Outcome, Runner
from inside_torch.take import exercise as taken

sys.path.insert(0, str(taken.FOLDER))
import check

NAMES = sorted(path.parent.name for path in taken.FOLDER.glob("*/judge.py"))
RUNGS = sorted(f"ladder/{path.parent.name}" for path in taken.FOLDER.glob("ladder/*/judge.py"))
LADDER = BOOK.page("ladder/index.md").text
PAGES = {name: BOOK.page(f"exercises/{name}.md") for name in NAMES}
PROGRAM = """\
import json, sys
from pathlib import Path
sys.path.insert(0, {!r})
import check
print(json.dumps(check.judged(Path({!r}), Path({!r}))))
"""


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """Forks of a server that has torch imported, as the build runs blocks."""
    runner = Runner(Edition(), deadline=300)
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


def started(path: Path) -> str:
    """What runs a starter by itself; toytorch is found by those that extend it."""
    found = f"import sys; sys.path.append({str(taken.FOLDER.parent)!r})\n" if "ladder" in path.parts else ""
    return found + path.read_text()


@pytest.fixture(scope="module", params=NAMES + RUNGS)
def exercise(request: pytest.FixtureRequest, runner: Runner) -> tuple[str, Exercise]:
    """One exercise with all its files checked, side by side, each in a process of its own."""
    folder = taken.FOLDER / request.param
    files = [folder / "start.py", folder / "solution.py", *sorted(folder.glob("wrong/*.py"))]
    texts = [path.read_text() for path in [folder / "judge.py", taken.FOLDER / "check.py", *files]]
    built = digest(Edition().fingerprint, *texts)[:12]

    def checked(path: Path) -> tuple[bool, str]:
        extensions = Edition().extensions / f"{built}-{path.stem}"
        return verdict(runner.run(PROGRAM.format(*map(str, (taken.FOLDER, folder, path))), (), True, extensions))

    with ThreadPoolExecutor(usable_cores()) as pool:
        alone = pool.submit(runner.run, started(files[0]), (), True)
        verdicts = dict(zip([str(path.relative_to(folder)) for path in files], pool.map(checked, files)))
    return request.param, Exercise(verdicts, alone.result())


def promises(name: str) -> dict[str, str]:
    """The part of the explanation that the first line of each wrong solution promises."""
    first = {path: path.read_text().partition("\n")[0] for path in (taken.FOLDER / name).glob("wrong/*.py")}
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


@pytest.mark.parametrize("name", NAMES + RUNGS)
def test_a_starter_fits_a_narrow_page(name):
    lines = (taken.FOLDER / name / "start.py").read_text().splitlines()
    assert [line for line in lines if len(line) > 76] == []


def hidden(text: str) -> dict[str, str]:
    """What each closed disclosure of a page holds, by its title."""
    found = re.findall(r'^\?\?\? \w+ "(.+)"\n((?:    .*\n|\n)+)', text, re.M)
    return {title: textwrap.dedent(content) for title, content in found}


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_hints_and_hides_the_solution(name):
    text = PAGES[name].text
    files = f"examples/exercises/{name}"
    assert f'```python title="{files}/start.py"\n--8<-- "{files}/start.py"\n```' in text
    assert f"make check EX={name}\n" in text
    assert "python check.py start.py\n" in text
    assert re.search(r"\]\(\.\./[\w-]+\.md", text), "a link to its chapter"
    assert tables.LESSON.search(text)
    closed = hidden(text)
    assert len([title for title in closed if title.startswith("Hint")]) >= 2
    shown = f'--8<-- "{files}/solution.py"'
    assert shown in closed["Solution"] and text.count(shown) == 1
    assert 200 <= len(PAGES[name].prose.split()) <= 700


@pytest.mark.parametrize("name", RUNGS)
def test_the_ladder_shows_each_starter_and_hides_each_solution(name):
    (section,) = [part for part in re.split(r"(?m)^## ", LADDER) if f"`{name}`" in part.partition("\n```")[0]]
    files, closed = f"examples/exercises/{name}", hidden(section)
    assert f'```python title="{files}/start.py"\n--8<-- "{files}/start.py"\n```' in section
    shown = f'--8<-- "{files}/solution.py"'
    assert shown in closed["Solution"] and LADDER.count(shown) == 1
    assert closed["Hint"] and re.search(r"\]\(\.\./[\w-]+\.md", section), "a link to its chapter"
    assert 40 <= len(section.partition("\n```")[0].partition("\n")[2].split()) <= 90, "the task"


def test_every_exercise_is_in_the_navigation_and_in_the_overview():
    listed = re.findall(r"\(([\w-]+)\.md\)", BOOK.page("exercises/index.md").text)
    assert sorted(listed) == NAMES


def test_a_rung_is_named_and_misses_no_toytorch_in_silence(tmp_path: Path):
    (tmp_path / "ladder" / "abs").mkdir(parents=True)
    for file in ("check.py", "ladder/rungs.py", *(f"{RUNGS[0]}/{name}.py" for name in ("judge", "start"))):
        (tmp_path / file).write_bytes((taken.FOLDER / file).read_bytes())
    said = alone(tmp_path, "check.py").stdout
    assert said == "name an exercise: ladder/abs\n"
    said = alone(tmp_path, "check.py", "ladder/abs/start.py", "ladder/abs").stdout
    assert said.startswith("wrong: there is no toytorch in ")


def test_an_exercise_can_be_taken_from_its_page(book: Path):
    for name in NAMES:
        for file in (f"{name}.zip", f"do-{name}.ipynb", *taken.files(name)):
            assert (book / "exercises" / file).read_bytes() == taken.offered(PAGES[name])[f"exercises/{file}"]
        page = (book / "exercises" / f"{name}.html").read_text(encoding="utf-8")
        assert f'<a href="{name}.zip" download>Download the files</a>' in page
        assert re.search(r"\d+ minutes? to read", page)


def test_a_promise_that_is_not_kept_is_noticed():
    promised = {"wrong/a.py": "rounded down", "wrong/b.py": "the offset"}
    assert unproven({"wrong/a.py": (False, "wrong: rounded\ndown"), "wrong/b.py": (True, "right")}, promised) == [
        "wrong/b.py promises `the offset`, but the check says: right"
    ]
    said = (False, "wrong: the offset is rounded down")
    assert len(unproven({"wrong/a.py": said, "wrong/b.py": said}, promised)) == 2


TOY = """\
from check import compare

PLAIN = {plain}


def check(work):
    ideas = {{"This adds.": lambda a, b: a + b}}
    compare("times", [(2, 2), (3, 4)], work.times, lambda a, b: a * b, ideas, "It multiplies.")
"""


@pytest.fixture(params=[True, False], ids=["plain", "torch"])
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A learner's file, to be written, of an exercise `toy`: multiply two numbers."""
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "judge.py").write_text(TOY.format(plain=request.param))
    (tmp_path / "check.py").write_bytes((taken.FOLDER / "check.py").read_bytes())
    monkeypatch.setattr(check, "HERE", tmp_path)
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
        "def times(a, b):\n    raise ValueError(a)\n": "wrong: line 2 of mine.py raised an error\n    raise ValueError",
        "raise SystemExit(80)\n": "wrong: mine.py ends the program",
        "class Any:\n    __eq__ = lambda *_: True\ntimes = lambda a, b: Any()\n": "wrong: a function returned",
        "class N(int):\n    __eq__ = lambda *_: True\ntimes = lambda a, b: N()\n": "wrong: a function returned",
    }.items(),
)
def test_what_is_wrong_with_a_file_is_said(toy: Path, source, said):
    toy.write_text(source)
    right, text = check.judged(toy.parent / "toy", toy)
    assert text.startswith(said)
    assert right == said.startswith("right")


@pytest.mark.parametrize(
    ("source", "said"),
    {
        "import torch\n": "wrong: the file imports `torch`",
        "import numpy.linalg\n": "wrong: the file imports `numpy`",
        "import importlib\ntorch = importlib.import_module('torch')\n": "wrong: the file imports `torch`",
        "import sys\ntorch = sys.modules['torch']\n": "wrong: line 2 of mine.py raised an error",
        "import gc\ntorch = next(o for o in gc.get_objects() if getattr(o, '__name__', '') == 'torch')\n": "wrong: ",
    }.items(),
)
@pytest.mark.parametrize("toy", [True], indirect=True)
def test_a_plain_file_finds_no_torch(toy: Path, source, said):
    import torch  # noqa: F401 - a learner's file that ran in this process would find it

    toy.write_text(f"{source}times = lambda a, b: torch.tensor(a * b).item()\n")
    assert check.judged(toy.parent / "toy", toy)[1].startswith(said)


@pytest.mark.parametrize(
    ("source", "status", "said"),
    [
        ("def times(a, b):\n    return a * b\n", 0, "right: mine.py does what the exercise asks\n"),
        ("print('seen')\ndef times(a, b):\n    return a - b\n", 1, "wrong: times(2, 2)\n"),
        ("import os\nos._exit(0)\n", 1, "mine.py ended the process before the check was over"),
        ("import os\nos._exit(80)\n", 1, "mine.py ended the process before the check was over"),
        ("import os\nos.write(1, b'[null, true, \"right\"]')\nos._exit(0)\n", 1, "ended the process before"),
        ("while True:\n    pass\n", 1, "longer than 4 seconds"),
    ],
)
def test_the_command_ends_with_the_verdict(toy: Path, monkeypatch, capfd, source, status, said):
    monkeypatch.setattr(check, "DEADLINE", 4 if "while" in source else 120)
    toy.write_text(source)
    assert check.main(str(toy), "toy") == status
    printed = capfd.readouterr()
    assert said in printed.out
    assert ("seen" in printed.err) == ("seen" in source)


def test_a_tensor_with_rules_of_its_own_is_no_tensor():
    import torch

    class Equal(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return True

    assert check.tensor(torch.nn.Parameter(torch.ones(1))).item() == 1
    for value in (torch.ones(1).as_subclass(Equal), 1.0):
        with pytest.raises(check.Wrong, match="where a torch"):
            check.tensor(value)


def test_calls_are_seen():
    seen = []
    with check.calls(lambda file, name: seen.append((Path(file).name, name))):
        textwrap.dedent("a")
        len("a")
    assert ("textwrap.py", "dedent") in seen and ("test_exercises.py", "len") in seen


@pytest.mark.parametrize("toy", [True], indirect=True)
def test_an_unknown_exercise_and_a_missing_file_are_named(toy: Path, capsys):
    assert check.main("", "tory") == 1
    assert capsys.readouterr().out == "there is no exercise `tory`; there are toy\n"
    assert check.main() == 1
    assert capsys.readouterr().out == "name an exercise: toy\n"
    assert check.main("nowhere.py", "toy") == 1
    assert "there is no file" in capsys.readouterr().out


def alone(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run Python in a folder with nothing of this repository on its path."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "INSIDE_TORCH"))}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=bare, capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_files_of_a_download_need_torch_alone(name):
    imported = set()
    for content in taken.files(name).values():
        for node in ast.walk(ast.parse(content)):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module.partition(".")[0])
    assert imported - sys.stdlib_module_names <= {"torch", "functorch", "check"}


def test_the_download_of_the_ladder_checks_by_itself(tmp_path: Path):
    (packed,) = taken.offered(BOOK.page("ladder/index.md")).values()
    zipfile.ZipFile(io.BytesIO(packed)).extractall(tmp_path)
    assert sorted(f"ladder/{path.parent.name}" for path in tmp_path.rglob("start.py")) == RUNGS
    assert not [*tmp_path.rglob("solution.py"), *tmp_path.rglob("wrong")]
    for file, status in (("start", 1), ("solution", 0)):
        source = taken.FOLDER / "ladder" / "abs" / f"{file}.py"
        (tmp_path / "ladder" / "mine.py").write_bytes(source.read_bytes())
        ran = alone(tmp_path / "ladder", "exercises/check.py", "mine.py", "ladder/abs")
        assert ran.returncode == status, ran


@pytest.mark.parametrize("name", ["strides", "trace"])
def test_the_files_of_a_download_check_by_themselves(tmp_path: Path, name):
    zipfile.ZipFile(io.BytesIO(taken.zipped(taken.files(name)))).extractall(tmp_path)
    folder = tmp_path / name
    assert {f"{name}/{path.name}": path.read_bytes() for path in folder.iterdir()} == taken.files(name)
    started = alone(folder, "check.py", "start.py")
    assert started.returncode == 1 and started.stdout.startswith(("not written yet: ", "wrong: ")), started
    (folder / "start.py").write_bytes((taken.FOLDER / name / "solution.py").read_bytes())
    solved = alone(folder, "check.py", "start.py")
    assert (solved.returncode, solved.stdout) == (0, "right: start.py does what the exercise asks\n"), solved


def cells(name: str) -> nbformat.NotebookNode:
    return nbformat.reads(taken.notebook(name), as_version=4)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_writes_the_files_and_has_no_solution(name):
    book = cells(name)
    nbformat.validate(book)
    written = dict(
        re.findall(r"%%writefile (\S+)\n(.*)", c.source, re.S)[0] for c in book.cells if "%%write" in c.source
    )
    assert {f"{name}/{file}": text.encode() for file, text in written.items()} == taken.files(name)
    solution = (taken.FOLDER / name / "solution.py").read_text()
    assert solution.partition("\n")[0] not in taken.notebook(name) and "Solution" not in taken.notebook(name)
    prose = "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    assert prose.startswith("# ") and prose.count("<details>") >= 2
    assert not re.search(r"\]\((?!https?:)", re.sub(r"```.*?```|`[^`]*`", "", prose, flags=re.S))


def test_a_notebook_checks_by_itself(tmp_path: Path):
    book = cells("strides")
    (start,) = [cell for cell in book.cells if cell.source.startswith("%%writefile start.py")]
    for solved, said in ((False, "not written yet: write fresh"), (True, "right: start.py does what")):
        if solved:
            start.source = "%%writefile start.py\n" + (taken.FOLDER / "strides" / "solution.py").read_text()
        ran = NotebookClient(book, resources={"metadata": {"path": str(tmp_path)}}, timeout=300).execute()
        printed = "".join(output.get("text", "") for cell in ran.cells for output in cell.get("outputs", []))
        assert said in printed
