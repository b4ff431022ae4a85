"""Check an exercise: `python check.py start.py`. Needs Python's standard library and torch, and judge.py beside it.

Where this file lies above the exercises, name one: `python check.py mine.py strides`. judge.py has a function
`check(work)`, in which `work` is the learner's file as a module. It returns when the file is right and raises
`Wrong` when not; the helpers for it are `Wrong`, `compare`, `plain`, `tensor` and `calls`. With `PLAIN = True` in
judge.py, the learner's functions run in a process of their own that has the standard library only, so that torch is
nowhere to be found.

The judge and the learner's file run in a child of this process. The verdict counts only with the random token that
the judge was given before it loaded the learner's file: a file that ends the process has not passed.
"""

from __future__ import annotations

import ast
import contextlib
import faulthandler
import functools
import json
import os
import secrets
import subprocess
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).resolve().parent
DEADLINE = float(os.environ.get("CHECK_SECONDS", "120"))  # seconds
TOKEN = "CHECK_TOKEN"
CHILD = "import sys; sys.path.insert(0, sys.argv[1]); import check; check.{}(*sys.argv[2:])"
TERMINAL = "CONIN$" if os.name == "nt" else "/dev/tty"


class Wrong(Exception):  # noqa: N818 - a verdict on a file, no error of the program
    """Says what was given, what came, what was expected, and which mistaken idea gives that."""


def plain(value):
    """A value of numbers, strings, None, lists and tuples, with its lists (and torch's sizes) as tuples.

    Raises Wrong for an object of another class, whose `==` could say anything.
    """
    if isinstance(value, list | tuple):
        return tuple(map(plain, value))
    if type(value) in (bool, int, float, str, type(None)):
        return value
    raise Wrong(
        f"a function returned an object of the class `{type(value).__name__}`. The check compares plain numbers, "
        "strings, lists and tuples, because an object's own `==` may call anything equal."
    )


def tensor(value):
    """A value that has to be a torch.Tensor. Raises Wrong for all else, subclasses with their own rules included."""
    import torch

    if type(value) in (torch.Tensor, torch.nn.Parameter):
        return value
    raise Wrong(f"a function returned an object of the class `{type(value).__name__}` where a torch.Tensor is expected")


def compare(
    call: str, cases: Iterable[tuple], mine: Callable, right: Callable, ideas: dict[str, Callable], otherwise: str
) -> None:
    """Compare `mine` with `right` on each case, a tuple of arguments.

    Raises Wrong with the first case that differs, or what `mine` raised before one did. The message goes on with
    one of the `ideas`, an explanation and the function it explains: that function gives what `mine` gave on each
    case that differs, and agrees with it most often elsewhere. If there is none, it goes on with `otherwise`.
    """
    answers = []
    try:
        for case in cases:
            answers.append((case, plain(mine(*case)), plain(right(*case))))
    except Exception:  # a learner's function may raise anything; an answer that differed before tells more
        if all(came == expected for _, came, expected in answers):
            raise
    agreed = {otherwise: 0.5}
    differing = [answer for answer in answers if answer[1] != answer[2]]
    if not differing:
        return
    for idea, rival in ideas.items():
        if all(plain(rival(*case)) == came for case, came, _ in differing):
            agreed[idea] = sum(plain(rival(*case)) == came for case, came, _ in answers)
    case, *both = differing[0]
    came, expected = (value if isinstance(value, str) else repr(value) for value in both)
    given = ", ".join(map(repr, case))
    raise Wrong(f"{call}({given})\n  gave      {came}\n  expected  {expected}\n{max(agreed, key=agreed.get)}")


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


def load(path: Path, name: str) -> ModuleType:
    """Execute a file as the module `name`."""
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    return module


def wrapped(text: str) -> str:
    """A text with its lines of prose, which begin with a letter and end in a full stop, as narrow as a terminal."""
    lines = text.split("\n")
    prose = [line[:1].isalpha() and line.endswith(".") for line in lines]
    options = {"width": 76, "break_long_words": False, "break_on_hyphens": False}
    return "\n".join(textwrap.fill(line, **options) if told else line for line, told in zip(lines, prose))


def explained(error: BaseException, path: Path) -> str:
    """The verdict that an error leads to: where in the learner's file it arose, or what the check could not use."""
    if hasattr(error, "verdict"):
        return error.verdict
    if isinstance(error, Wrong):
        return wrapped(f"wrong: {error}")
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
    if isinstance(error, ModuleNotFoundError) and own and "torch" not in sys.modules:
        return (
            f"wrong: the file imports `{error.name}`. In this exercise you do by hand what torch does for you every "
            "day, so the file may import Python's standard library and nothing else."
        )
    if own:
        return f"wrong: line {own[-1].lineno} of {path.name} raised an error\n    {own[-1].line}\n{said}"
    at = frames[-1]
    where = f"line {at.lineno} of {Path(at.filename).name}"
    return f"wrong: the check could not use what {path.name} gave it; {where} raised an error\n    {at.line}\n{said}"


def ended(path: Path) -> str:
    return f"{path.name} ended the process before the check was over"


def private_stdout():
    """What was standard output until now, for this process alone; prints go to standard error from here on."""
    private = os.fdopen(os.dup(1), "w")
    sys.stdout.reconfigure(line_buffering=True)
    os.dup2(2, 1)
    return private


class Apart:
    """A learner's file in a process that has the standard library only: `apart.f(x)` calls its function f there.

    Arguments and results are plain values. A ValueError comes back as one, with its text.
    """

    def __init__(self, path: Path):
        command = [sys.executable, "-I", "-S", "-c", CHILD.format("serve"), str(HERE), str(path)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._path = path

    def __getattr__(self, name: str) -> Callable:
        return functools.partial(self._ask, name)

    def _ask(self, name: str, *args):
        try:
            print(ascii((name, args)), file=self._process.stdin, flush=True)
            reply = json.loads(self._process.stdout.readline())
        except (BrokenPipeError, json.JSONDecodeError):
            raise Wrong(ended(self._path)) from None
        if "gave" in reply:
            return plain(reply["gave"])
        error = RuntimeError() if reply["refusal"] is None else ValueError(reply["refusal"])
        error.verdict = reply["verdict"]
        raise error


def serve(file: str) -> None:
    """Answer the calls of an Apart, a line each, until there are no more."""
    faulthandler.dump_traceback_later(DEADLINE, exit=True, file=os.open(os.devnull, os.O_WRONLY))
    replies, asked = private_stdout(), os.fdopen(os.dup(0))
    with contextlib.suppress(OSError):  # breakpoint() needs a terminal, where there is one
        os.dup2(os.open(TERMINAL, os.O_RDWR), 0)
    path, work = Path(file), None
    for line in asked:
        name, args = ast.literal_eval(line)
        try:
            work = work or load(path, "work")
            reply = {"gave": plain(getattr(work, name)(*args))}
        except BaseException as error:
            refusal = str(error) if work and isinstance(error, ValueError) else None
            reply = {"refusal": refusal, "verdict": explained(error, path)}
        print(json.dumps(reply), file=replies, flush=True)


def judged(folder: Path, path: Path) -> tuple[bool, str]:
    """Check a file with the judge in a folder: whether it is right, and what there is to say about it."""
    try:
        judge = load(folder / "judge.py", "judge")
        judge.check(Apart(path) if getattr(judge, "PLAIN", False) else load(path, "work"))
    except BaseException as error:
        return False, explained(error, path)
    return True, f"right: {path.name} does what the exercise asks"


def report(folder: str, file: str) -> None:
    """Check a file and send the verdict with the token to the process that waits for it."""
    token, verdict = os.environ.pop(TOKEN), private_stdout()
    print(json.dumps([token, *judged(Path(folder), Path(file))]), file=verdict, flush=True)
    os._exit(0)


def main(file: str = "", name: str = "") -> int:
    """Check a file, print the verdict, and return 0 when it is right and 1 when not."""
    folder = HERE / name
    if not (folder / "judge.py").is_file():
        names = ", ".join(sorted(path.parent.relative_to(HERE).as_posix() for path in HERE.rglob("judge.py")))
        print(f"there is no exercise `{name}`; there are {names}" if name else f"name an exercise: {names}")
        return 1
    path = Path(file or folder / "start.py").resolve()
    if not path.is_file():
        print(f"there is no file {path}")
        return 1
    token = secrets.token_hex()
    command = [sys.executable, "-c", CHILD.format("report"), str(HERE), str(folder), str(path)]
    environment = os.environ | {TOKEN: token, "CHECK_SECONDS": str(DEADLINE)}
    try:
        sent = subprocess.run(command, stdout=subprocess.PIPE, env=environment, timeout=DEADLINE).stdout
        signed, right, said = json.loads(sent)
    except subprocess.TimeoutExpired:
        signed, right = token, False
        said = f"wrong: the check of {path.name} took longer than {DEADLINE:g} seconds; is there a loop without an end?"
    except (ValueError, TypeError):
        signed = None
    except KeyboardInterrupt:
        return 130
    if signed != token:
        right, said = False, f"wrong: {ended(path)}"
    print(said)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
