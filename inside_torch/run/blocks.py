"""Run programs side by side, each once: what each printed, or why that must not be shown."""

import functools
import os
import re
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from inside_torch.edition import ROOT, Edition
from inside_torch.run.cache import Cache
from inside_torch.run.needs import needs
from inside_torch.run.normal import normalised, without_notices
from inside_torch.run.runner import Outcome, Runner

FOLDER = ROOT / "examples"  # a drawing may show what a program or a recording in it says
UNPRINTABLE = re.compile(r"[^\t\n\x20-\x7e\x85\xa0-\U0010ffff]")
STDERR = "it wrote to stderr: "
MANY = 20  # so many programs are worth the seconds in which a server imports all that any of them might need


@dataclass(frozen=True)
class Result:
    """What a program printed, or, with `failure` not empty, why it must not be shown."""

    output: str
    failure: str = ""
    stderr: str = ""

    @property
    def failed(self) -> bool:
        return bool(self.failure)


@dataclass(frozen=True)
class Program:
    """A program; one that is `drawing` may import the book's figures, and prints one."""

    source: str
    drawing: bool = False

    @property
    def inputs(self) -> list[str]:
        """The texts that its output depends on: itself, and each file in examples/ that a drawing names."""
        if not self.drawing or FOLDER.name not in self.source:
            return [self.source]
        named = set(re.findall(r"\w+", self.source)) - {FOLDER.name}
        files = [file for file in FOLDER.rglob("*.*") if named & {file.name.partition(".")[0], file.parent.name}]
        return [self.source, *(file.read_text(encoding="latin-1") for file in sorted(files) if file.suffix != ".pyc")]


def judge(outcome: Outcome) -> Result:
    """Turn a program's outcome into its output or its failure."""
    output = outcome.stdout.decode("utf-8", "backslashreplace")
    stderr = without_notices(outcome.stderr.decode("utf-8", "backslashreplace"))
    unprintable = UNPRINTABLE.search(output)
    if outcome.stopped:
        failure = outcome.stopped
    elif outcome.status < 0:
        failure = f"it was killed by signal {-outcome.status}"
    elif outcome.status:
        last = stderr.strip().rpartition("\n")[2]
        failure = f"it ended with status {outcome.status}" + (f": {last}" if last else "")
    elif not outcome.finished:
        failure = "it ended before its last line, without an exception (os._exit?)"
    elif stderr.strip():
        failure = STDERR + stderr.strip().partition("\n")[0]
    elif outcome.stdout.decode("utf-8", "replace") != output:
        failure = "it printed bytes that are not UTF-8"
    elif unprintable:
        failure = f"it printed the control character {unprintable[0]!r}, which a page cannot show"
    else:
        return Result(normalised(output))
    return Result(output, failure, stderr)


def usable_cores() -> int:
    """How many programs may run at once: the cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


runner = functools.cache(Runner)  # one for all the builds that `mkdocs serve` makes


class Blocks:
    """Runs each program once, and remembers; what is in the cache does not run. `check` raises ValueError for what a
    drawing printed when it is no figure."""

    def __init__(self, edition: Edition, check: Callable[[str], object] = str) -> None:
        self.edition, self.check = edition, check
        self.runner = runner(edition)
        self.outputs, self.drawings = (
            Cache(edition, "blocks", "run"),
            Cache(edition, "blocks", "run", "drawing", "figures", "labs"),
        )
        self.pool = ThreadPoolExecutor(usable_cores())
        self.results: dict[Program, Future[Result]] = {}
        self.lock = threading.Lock()
        self.full = False

    def cache(self, program: Program) -> Cache:
        return self.drawings if program.drawing else self.outputs

    def run(self, program: Program) -> Result:
        """Run a program now and keep its output; a failure is never kept."""
        path = (str(ROOT),) if program.drawing else ()
        extensions = self.edition.extensions / self.outputs.key(program.source)[:16]
        full = self.full and not needs(program.source).compiler  # compilers run while the server imports
        result = judge(self.runner.run(program.source, path, full, extensions))
        if program.drawing and not result.failed:
            try:
                self.check(result.output)
            except (ValueError, KeyError, TypeError) as error:
                return Result(result.output, f"not a figure: {error}")
        if not result.failed:
            self.cache(program).put(result.output, *program.inputs)
        return result

    def start(self, programs: Iterable[Program]) -> list[Future[Result]]:
        """Begin with every program whose output is not known; returns those that will run."""
        pending = []
        with self.lock:
            for program in dict.fromkeys(programs):
                if program in self.results:
                    continue
                output = self.cache(program).get(*program.inputs)
                if output is None:
                    pending.append(program)
                else:
                    self.results[program] = Future()
                    self.results[program].set_result(Result(output))
            wanted = {program: needs(program.source) for program in pending}
            self.full |= len(pending) > MANY or any(one.dynamo for one in wanted.values())
            for program in sorted(pending, key=lambda one: not wanted[one].compiler):  # compilers take longest
                self.results[program] = self.pool.submit(self.run, program)
        return [self.results[program] for program in pending]

    def result(self, source: str, drawing: bool = False) -> Result:
        """What a program printed; waits for it, and starts it if nobody has."""
        program = Program(source, drawing)
        self.start([program])
        return self.results[program].result()
