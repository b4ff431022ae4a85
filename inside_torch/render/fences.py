"""The fences that run, as HTML: a block or a quiz with its output, a figure, or the reason why there is none."""

import html
import re
from collections import Counter

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CppLexer

from inside_torch.fences import Fence
from inside_torch.render.figures import checked_figure, figure_html
from inside_torch.render.quiz import quiz_html
from inside_torch.render.source import link_html, source_html
from inside_torch.run.blocks import Result
from inside_torch.run.cache import Cache, digest

STATEMENT = re.compile(r"(?:[;{}]|^\s*(?:for|if|while) ?\(.*\))\s*(?://.*)?$|^\s*//")  # how a line of C++ ends


def block_name(fence: Fence) -> str:
    """The id of a block: made of its content, so that a link to it stays when the page around it changes."""
    return f"b-{digest(fence.info, fence.program)[:8]}"


def numbered(name: str, taken: Counter[str]) -> str:
    """A name, with a number when it is taken already."""
    taken[name] += 1
    return name if taken[name] == 1 else f"{name}-{taken[name]}"


def failure_html(said: str) -> str:
    """What is wrong, as `mkdocs serve` shows it; a build never gets as far as publishing one."""
    return f'<div class="it-failure" role="alert"><pre>{html.escape(said)}</pre></div>'


def is_cpp(output: str) -> bool:
    """Whether what a block printed is C++, as far as the ends of its lines tell."""
    lines = [line for line in output.splitlines() if line.strip()]
    return ";" in output and 2 * len(lines) <= 3 * sum(bool(STATEMENT.search(line)) for line in lines)


def output_html(output: str) -> str:
    """What a block printed, as text and nothing but text, C++ in its colors; nothing for one that printed nothing."""
    if not output.strip("\n"):
        return ""
    output, kind = output.rstrip("\n"), "it-output"
    text = html.escape(output)
    if is_cpp(output):
        text = highlight(output, CppLexer(stripnl=False, ensurenl=False), HtmlFormatter(nowrap=True)).removesuffix("\n")
        kind += " it-cpp"
    return f'<div class="{kind}"><p class="it-hidden">output</p><pre tabindex="0"><samp>{text}</samp></pre></div>'


def fence_html(fence: Fence, result: Result, failure: str, name: str, cache: Cache, other: str = "") -> str:
    """A fence that runs, in the element called `name`; with `failure`, that instead of what it printed. `other` is what
    other torches print."""
    what = {"python": "block"}.get(fence.info, fence.info)
    source = source_html(cache, fence.program, name, what) if fence.is_program else ""
    if failure:
        inner = source + failure_html(failure)
    elif what == "figure":
        inner = figure_html(checked_figure(result.output), link_html(name, what)) + other
    elif what == "quiz":
        inner = quiz_html(fence.quiz, source, result.output, output_html(result.output) + other)
    else:
        inner = source + output_html(result.output) + other
    return f'<div class="it-block{" it-quiz" * (what == "quiz")}" id="{name}">{inner}</div>'
