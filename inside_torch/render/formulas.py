"""Formulas as MathML, made at build time: `$...$` within a line, `$$` lines around a displayed one."""

import html
import re
from collections.abc import Iterator
from itertools import accumulate
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor

INLINE = r"(?<![\\$\w])\$(?![\s$])([^$\n]+?)(?<!\s)\$(?![\w$])"
BRACES = re.compile(r"(?<!\\)[{}]")
DISPLAY = re.compile(r"^\$\$\n(.+?)\n\$\$$", re.M | re.S)


def mathml(formula: str, display: str) -> str:
    """A formula as one MathML element, with its LaTeX as the accessible annotation; `display` is inline or block.
    Raises ValueError when the formula cannot be converted."""
    depth = [0, *accumulate({"{": 1, "}": -1}[brace] for brace in BRACES.findall(formula))]
    if min(depth) < 0 or depth[-1]:
        raise ValueError(f"the formula {formula!r} has braces without a partner")
    try:
        converted = convert(formula, display=display)
        unknown = [text for text in ElementTree.fromstring(converted).itertext() if "\\" in text]
    except Exception as error:
        raise ValueError(f"the formula {formula!r} cannot be converted: {error!r}") from error
    if unknown:
        raise ValueError(f"the formula {formula!r} holds the unknown command {unknown[0]}")
    return converted


def formula_html(formula: str, display: str) -> str:
    """A formula as MathML; one that cannot be converted as a message, which `problems` reports with its line."""
    try:
        return mathml(formula, display)
    except ValueError as error:
        return f'<span class="it-failure">{html.escape(str(error))}</span>'


def problems(prose: str) -> Iterator[tuple[int, str]]:
    """Line and message of each formula in a page's prose that cannot be converted."""
    for pattern, display in ((re.compile(INLINE), "inline"), (DISPLAY, "block")):
        for found in pattern.finditer(prose):
            try:
                mathml(found[1], display)
            except ValueError as error:
                yield prose.count("\n", 0, found.start(1)) + 1, str(error)


class InlineFormula(InlineProcessor):
    """`$o + s$` within a line."""

    def handleMatch(self, m, data):  # noqa: N802 - Markdown's name
        return self.md.htmlStash.store(formula_html(m[1], "inline")), m.start(0), m.end(0)


class DisplayedFormula(Preprocessor):
    """A formula between two lines of `$$`; runs after the fences are stashed."""

    def run(self, lines: list[str]) -> list[str]:
        def displayed(m: re.Match[str]) -> str:
            box = f'<div class="it-scroll it-formula" tabindex="0">{formula_html(m[1], "block")}</div>'
            return "\n" + self.md.htmlStash.store(box) + "\n"

        return DISPLAY.sub(displayed, "\n".join(lines)).split("\n")
