"""The blocks of the book: which there are, what each printed, and what went wrong."""

from __future__ import annotations

import os
import re
import sys
import textwrap
import threading
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from inside_torch import edition, quiz, server
from inside_torch.cache import Cache, digest
from inside_torch.normal import normalised
from inside_torch.pictures import checked_figure, figure_html
from inside_torch.runner import Outcome, Runner

NEEDS_COMPILE = re.compile(r"torch\.(compile|export|_dynamo|_inductor|optim|compiler|_functorch|fx)\b")
CALLS_COMPILER = re.compile(r"\bcpp_extension\b")
UNPRINTABLE = re.compile(r"[^\t\n\x20-\x7e\x85\xa0-\U0010ffff]")


@dataclass(frozen=True)
class Result:
    """What a block printed, or, with `failure` not empty, why it must not be shown."""

    output: str
    failure: str = ""
    stderr: str = ""

    @property
    def failed(self) -> bool:
        return bool(self.failure)


def judge(outcome: Outcome) -> Result:
    """Turn a block's outcome into its output or its failure."""
    output = outcome.stdout.decode("utf-8", "backslashreplace")
    stderr = outcome.stderr.decode("utf-8", "backslashreplace")
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
        failure = "it wrote to stderr: " + stderr.strip().partition("\n")[0]
    elif outcome.stdout.decode("utf-8", "replace") != output:
        failure = "it printed bytes that are not UTF-8"
    elif unprintable:
        failure = f"it printed the control character {unprintable[0]!r}, which a page cannot show"
    else:
        return Result(normalised(output))
    return Result(output, failure, stderr)


def turn(source: str) -> int:
    """When a block runs: those that call a C++ compiler first, because they are the longest, and those
    that torch.compile last, because one core needs seconds to import what they need."""
    if NEEDS_COMPILE.search(source):
        return 2
    return 0 if CALLS_COMPILER.search(source) else 1


# What the server of each turn has imported besides torch.
MODULES = {0: ("torch.utils.cpp_extension",), 1: (), 2: server.COMPILE}


def usable_cores() -> int:
    """How many blocks may run at once: the cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def judge_figure(result: Result) -> Result:
    """A figure's result, failed as well when what it printed is not a figure of ours."""
    if result.failed:
        return result
    try:
        figure_html(checked_figure(result.output))
    except (ValueError, KeyError, TypeError) as error:
        return Result(result.output, f"not a figure: {error}")
    return result


def judge_quiz(result: Result, source: str) -> Result:
    """A quiz's result, failed as well when what its program printed cannot be the one right answer."""
    asked = quiz.parse(source)
    if result.failed or asked.problems:
        return result
    return Result(result.output, quiz.objection(asked, result.output))


class Blocks:
    """Runs each block once, side by side, and remembers; what is in the cache does not run."""

    def __init__(self, cache: Cache, runner: Runner | None = None, cores: int | None = None) -> None:
        self.cache = cache
        self.runner = runner or Runner()
        self.pool = ThreadPoolExecutor(cores or usable_cores())
        self.results: dict[str, Future[Result]] = {}
        self.lock = threading.Lock()
        self.fingerprint = ""
        self.drawing = ""
        self.refresh()

    def refresh(self) -> None:
        """Take a new look at the machine, the settings and the drawing code; forget failures."""
        self.fingerprint, self.drawing = edition.fingerprint(), edition.drawing_code()
        for key, future in list(self.results.items()):
            if future.done() and (future.exception() or future.result().failed):
                del self.results[key]

    def key(self, info: str, source: str) -> str:
        """The name of a block's output: its kind, its source and all that can change what it prints."""
        return digest(info, source, self.fingerprint, self.drawing if info == "figure" else "")

    def run(self, key: str, info: str, source: str) -> Result:
        """Run a block now and store its output; a failure is never stored."""
        path = (str(edition.ROOT),) if info == "figure" else ()
        program = quiz.parse(source).in_place if info == "quiz" else source
        modules = MODULES[turn(program)]
        result = judge(self.runner.run(program, path, modules, edition.extensions() / key[:16]))
        if info == "figure":
            result = judge_figure(result)
        if info == "quiz":
            result = judge_quiz(result, source)
        if not result.failed:
            self.cache.put(key, result.output)
        return result

    def start(self, programs: Iterable[tuple[str, str]]) -> list[Future[Result]]:
        """Begin with every (info, source) whose output is not known; returns those that will run."""
        pending = {}
        with self.lock:
            for info, source in programs:
                key = self.key(info, source)
                if key in self.results:
                    continue
                output = self.cache.get(key)
                if output is None:
                    pending[key] = (info, source)
                else:
                    self.results[key] = Future()
                    self.results[key].set_result(Result(output))
            if any(NEEDS_COMPILE.search(source) for _, source in pending.values()):
                self.pool.submit(self.runner.prepare, server.COMPILE)
            for key, program in sorted(pending.items(), key=lambda item: turn(item[1][1])):
                self.results[key] = self.pool.submit(self.run, key, *program)
        return [self.results[key] for key in pending]

    def result(self, info: str, source: str) -> Result:
        """What the block printed; waits for it, and starts it if nobody has."""
        self.start([(info, source)])
        return self.results[self.key(info, source)].result()

    def close(self) -> None:
        """Drop what has not begun and end the servers."""
        self.pool.shutdown(wait=False, cancel_futures=True)
        self.runner.close()


def page_lines(text: str, page: str, line: int) -> str:
    """A traceback with the block's own lines named as lines of its page; the fence opens on `line`."""
    return re.sub(r'File "block\.py", line (\d+)', lambda m: f'File "{page}", line {line + int(m[1])}', text)


def report(page: Path | str, line: int, result: Result, limit: int = 2000) -> str:
    """A failed block for the terminal: where, what, the output so far and what it wrote to stderr."""
    parts = [f"{page}:{line}: {result.failure}"]
    for name, text in (("output so far", result.output), ("stderr", page_lines(result.stderr, str(page), line))):
        if text.strip():
            shown = text if len(text) <= limit else text[:limit] + f"\n[{len(text) - limit} more characters]"
            parts.append(f"  {name}:\n" + textwrap.indent(shown.rstrip("\n"), "    "))
    return "\n".join(parts)
