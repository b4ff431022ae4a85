"""Exercises: check a learner's file in a process of its own, and say what is wrong with it.

`python -m inside_torch.exercises NAME [FILE]` checks FILE, or examples/exercises/NAME/start.py. Beside
start.py lie check.py, solution.py and wrong/*.py, the mistakes that the check has to explain. A check is
a function `check(work)` that raises `Wrong`; `PLAIN = True` in check.py keeps the learner's file to
Python's standard library, so that it cannot ask torch for what it should compute. The page is
docs/exercise-NAME.md; overview.py lists it with its title and the first sentence of "What it teaches".
"""

from __future__ import annotations

import builtins
import contextlib
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType

from inside_torch.edition import PINNED, PYTHON, ROOT

FOLDER = Path(os.environ.get("INSIDE_TORCH_EXERCISES", ROOT / "examples" / "exercises")).resolve()
DEADLINE = float(os.environ.get("INSIDE_TORCH_DEADLINE", "60"))  # seconds a check may take
STATUS = {True: 80, False: 81}  # how the checking process ends; a file that ends it before the check says neither
CHILD = "import sys; from inside_torch import exercises; exercises.end(*sys.argv[1:])"
ROUNDABOUT = {"builtins", "ctypes", "importlib", "runpy", "subprocess", "sys"}  # standard, but they lead to torch


class Wrong(Exception):  # noqa: N818 - a verdict on a file, no error of the program
    """Says what was given, what came, what was expected, and which mistaken idea gives that."""


def names() -> list[str]:
    """The exercises there are."""
    return sorted(path.parent.name for path in FOLDER.glob("*/check.py"))


def standard_import(name: str, *rest):
    """`__import__` of a file that is to do without torch. Raises Wrong."""
    package = name.partition(".")[0]
    if package in ROUNDABOUT or package not in sys.stdlib_module_names:
        raise Wrong(
            f"the file imports `{name}`. This exercise is arithmetic that torch does for you every day, "
            "and the point is to do it once by hand: plain Python suffices, and the check does the asking."
        )
    return __import__(name, *rest)


def load(path: Path, name: str, plain: bool = False) -> ModuleType:
    """Execute a file as the module `name`; with `plain`, it may import nothing beyond the standard library."""
    module = ModuleType(name)
    module.__file__ = str(path)
    if plain:
        module.__dict__["__builtins__"] = vars(builtins) | {"__import__": standard_import}
    sys.modules[name] = module
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    return module


def plainly(value):
    """A value with its lists (and torch's sizes) as tuples, so that only contents are compared."""
    return tuple(map(plainly, value)) if isinstance(value, list | tuple) else value


def told(value: object) -> str:
    """A value as a report shows it; a sentence stands for itself."""
    return value if isinstance(value, str) else repr(value)


def compare(
    call: str, cases: Iterable[tuple], mine: Callable, right: Callable, ideas: dict[str, Callable], otherwise: str
) -> None:
    """Compare `mine` with `right` on each case, a tuple of arguments.

    Raises Wrong with the first case that differs, or what `mine` raised before one did. It goes on with one of
    the `ideas`, an explanation and the function it explains: that function gives what `mine` gave on each case
    that differs, and agrees with it most often elsewhere. If there is none, it goes on with `otherwise`.
    """
    answers = []
    try:
        for case in cases:
            answers.append((case, plainly(mine(*case)), plainly(right(*case))))
    except Exception:  # a reader's function may raise anything; an answer that differed before tells more
        if all(came == expected for _, came, expected in answers):
            raise
    agreed = {otherwise: 0.5}
    differing = [answer for answer in answers if answer[1] != answer[2]]
    if not differing:
        return
    for idea, rival in ideas.items():
        if all(plainly(rival(*case)) == came for case, came, _ in differing):
            agreed[idea] = sum(plainly(rival(*case)) == came for case, came, _ in answers)
    case, came, expected = differing[0]
    given = ", ".join(map(repr, case))
    raise Wrong(
        f"{call}({given})\n  gave      {told(came)}\n  expected  {told(expected)}\n{max(agreed, key=agreed.get)}"
    )


@contextlib.contextmanager
def calls(seen: Callable[[str, str], None]) -> Iterator[None]:
    """Tell `seen` the file and the name of every function called meanwhile; C's count as their caller's file.

    What `seen` raises is raised at the call.
    """

    def profile(frame, event, arg) -> None:
        if event in ("call", "c_call"):
            seen(frame.f_code.co_filename, frame.f_code.co_name if event == "call" else arg.__name__)

    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)


def explained(error: BaseException, path: Path) -> str:
    """Tell where in the learner's file an error arose, or what of the file the check could not use."""
    said = "".join(traceback.format_exception_only(error)).strip()
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == str(path)]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f"wrong: line {error.lineno} of {path.name} is not Python\n{said}"
    if isinstance(error, NotImplementedError) and own and "raise" in own[-1].line and own[-1] is frames[-1]:
        return f"not written yet: {error} ({path.name}, line {frames[-1].lineno})"
    if isinstance(error, AttributeError) and isinstance(error.obj, ModuleType) and error.obj.__name__ == "work":
        return f"wrong: {path.name} defines no `{error.name}`; start.py shows what the check calls"
    if isinstance(error, SystemExit):
        return f"wrong: {path.name} ends the program, so there is nothing left to check"
    if own:
        return f"wrong: line {own[-1].lineno} of {path.name} raised an error\n    {own[-1].line}\n{said}"
    at = frames[-1]
    where = f"line {at.lineno} of {Path(at.filename).name}"
    return f"wrong: the check could not use what {path.name} gave it; {where} raised an error\n    {at.line}\n{said}"


def judged(name: str, file: Path | str) -> tuple[bool, str]:
    """Check a file in this process: whether it is right, and what there is to say about it."""
    path = Path(file)
    check = load(FOLDER / name / "check.py", "check")
    try:
        check.check(load(path, "work", getattr(check, "PLAIN", False)))
    except Wrong as wrong:
        return False, f"wrong: {wrong}"
    except BaseException as error:
        return False, explained(error, path)
    return True, f"right: {path.name} does what the exercise asks"


def end(name: str, file: str) -> None:
    """Check a file, say the verdict, and end this process with its status."""
    right, said = judged(name, file)
    print(said)
    sys.stdout.flush()
    os._exit(STATUS[right])


def run(name: str, file: Path | str | None = None) -> int:
    """Check a file in a fresh process and print the verdict; returns 0 when it is right and 1 when not."""
    if name not in names():
        print(f"there is no exercise `{name}`; there are {', '.join(names())}" if name else ", ".join(names()))
        return 1
    path = Path(file or FOLDER / name / "start.py").resolve()
    if not path.is_file():
        print(f"there is no file {path}")
        return 1
    try:
        command = [PYTHON, "-c", CHILD, name, str(path)]
        status = subprocess.run(command, cwd=ROOT, env=os.environ | PINNED, timeout=DEADLINE).returncode
    except subprocess.TimeoutExpired:
        print(f"wrong: the check of {path.name} took longer than {DEADLINE:g} seconds; is there a loop without an end?")
        return 1
    except KeyboardInterrupt:
        return 130
    if status not in STATUS.values():
        print(f"wrong: {path.name} ended the process (status {status}) before the check was over")
    return int(status != STATUS[True])


if __name__ == "__main__":
    sys.exit(run(*(sys.argv[1:3] or [""])))
