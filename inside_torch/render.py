"""The fences as HTML: entries for pymdownx.superfences' `custom_fences`."""

from __future__ import annotations

import functools
import html
from pathlib import Path

from markdown import Markdown
from markdown_exec import base_format, markdown_config
from pymdownx.superfences import SuperFencesException

from inside_torch import edition
from inside_torch.blocks import Blocks, Result
from inside_torch.cache import Cache, digest
from inside_torch.pictures import checked_figure, figure_html
from inside_torch.quiz import parse, quiz_html

# The source of a block is highlighted by a Markdown instance that knows nothing else: it cannot run it again.
SOURCE_EXTENSIONS = ["pymdownx.highlight", "pymdownx.superfences"]


@functools.cache
def blocks() -> Blocks:
    """The blocks of this process; one fork server for all builds that `mkdocs serve` makes."""
    return Blocks(Cache(edition.CACHE / "blocks"))


def plain_fence(language, inputs, options, attrs, md) -> bool:
    """Validator: only a fence with nothing else on its line is run."""
    return not inputs


def failure_html(result: Result) -> str:
    """A failed block, as `mkdocs serve` shows it; a build never gets as far as publishing one."""
    texts = [result.failure, result.output, result.stderr]
    shown = "".join(f"<pre>{html.escape(text)}</pre>" for text in texts if text.strip())
    return f'<div class="it-failure" role="alert"><p>This block failed.</p>{shown}</div>'


def output_html(output: str) -> str:
    """What a block printed, as text and nothing but text; nothing for a block that printed nothing."""
    if not output.strip("\n"):
        return ""
    text = html.escape(output.rstrip("\n"))
    return f'<div class="it-output"><p class="it-hidden">output</p><pre tabindex="0"><samp>{text}</samp></pre></div>'


@functools.cache
def rendering_code() -> str:
    """A digest of this file; the packages it uses are in the fingerprint."""
    return edition.hash_of_files([Path(__file__)])


def source_html(source: str) -> str:
    """A block's source, highlighted. Rendered once, then read from the cache."""
    cache = Cache(edition.CACHE / "html")
    key = digest(source, blocks().fingerprint, rendering_code())
    rendered = cache.get(key)
    if rendered is None:
        markdown_config.save(SOURCE_EXTENSIONS, {"pymdownx.highlight": {"pygments_lang_class": True}})
        rendered = base_format(
            language="python",
            run=lambda *_, **__: "",
            code=source,
            md=Markdown(),
            html=True,
            source="above",
            update_toc=False,
        )
        cache.put(key, rendered)
    return rendered


def block_html(source: str, result: Result) -> str:
    """A block's source with its output, or its failure, attached below."""
    return source_html(source) + (failure_html(result) if result.failed else output_html(result.output))


def quiz_or_failure_html(source: str, result: Result) -> str:
    """A quiz, or its failure; one that is not complete has its problems at the top of the page."""
    quiz = parse(source)
    if result.failed or quiz.problems:
        return source_html(quiz.program) + failure_html(result)
    return quiz_html(quiz, source_html(quiz.program), result.output, output_html(result.output))


def format_fence(source, language, class_name, options, md, **kwargs) -> str:
    """Formatter: the HTML of a fence that runs. superfences swallows every exception but its own."""
    try:
        result = blocks().result(language, source)
        if language == "python":
            inner = block_html(source, result)
        elif language == "quiz":
            inner = quiz_or_failure_html(source, result)
        else:
            inner = failure_html(result) if result.failed else figure_html(checked_figure(result.output))
        kind = "it-block it-quiz" if language == "quiz" else "it-block"
        return f'<div class="{kind}" data-block="{blocks().key(language, source)[:12]}">{inner}</div>'
    except Exception as error:
        raise SuperFencesException(f"{language} fence: {error!r}\n{source}") from error
