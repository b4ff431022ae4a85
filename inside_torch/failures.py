"""What went wrong, told so that a reader of the terminal finds the page, the line and the cause."""

import logging
import re
import textwrap
from collections.abc import Iterable

from mkdocs.exceptions import Abort
from mkdocs.utils import CountHandler

from inside_torch.book import Book, Page
from inside_torch.fences import Problem
from inside_torch.run.blocks import Result

LIMIT = 2000  # characters of an output or of stderr: the last ones, where the cause is
log = logging.getLogger("mkdocs")


def page_lines(text: str, page: str, line: int) -> str:
    """A traceback with the lines of a block named as lines of its page; the block begins below `line`."""
    return re.sub(r'File "block\.py", line (\d+)', lambda m: f'File "{page}", line {line + int(m[1])}', text)


def failure_of(result: Result, page: str, line: int) -> tuple[str, str]:
    """Why a program failed, in a sentence, and what it printed until then; it begins below `line` of its page."""
    parts = []
    for name, text in (("output so far", result.output), ("stderr", page_lines(result.stderr, page, line))):
        if text.strip():
            left_out = f"[{len(text) - LIMIT} characters before]\n" if len(text) > LIMIT else ""
            parts.append(f"  {name}:\n" + textwrap.indent(left_out + text[-LIMIT:].rstrip("\n"), "    "))
    return result.failure, "\n".join(parts)


def told(problem: Problem, page: str) -> str:
    """A problem as the terminal shows it."""
    return f"{page}:{problem.line}: {problem.text}" + (f"\n{problem.details}" if problem.details else "")


def all_told(pages: Iterable[Page]) -> list[str]:
    """Every problem of some pages, in their order and that of their lines."""
    found = [(page, problem) for page in pages for problem in sorted(page.problems, key=lambda problem: problem.line)]
    return [told(problem, page.name) for page, problem in found]


def reported(book: Book, stop: bool) -> int:
    """Tell MkDocs every problem of the book; returns how many there are. Raises Abort when they are to `stop` it."""
    problems = all_told(book.pages)
    for problem in problems:
        log.error(problem)
    if problems and stop:
        raise Abort(f"{len(problems)} failures: nothing was built")
    return len(problems)


def stop_nothing() -> None:
    """Let MkDocs build what has failures, although mkdocs.yml says `strict`, for which it counts what is logged."""
    log.handlers = [handler for handler in log.handlers if not isinstance(handler, CountHandler)]
