"""A quiz as HTML: it reads without a script as question, answers and a disclosure; quiz.js makes it answer."""

import html
import re

from inside_torch.quiz import Quiz
from inside_torch.render.prerequisites import name_of
from inside_torch.run.cache import digest


def prose(text: str) -> str:
    """A sentence as HTML: text, with `code` between backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))


def bare(answer: str) -> str:
    """An answer without spaces at the ends of its lines: only what a program printed has them, and that is right."""
    return "\n".join(map(str.rstrip, answer.strip("\n").splitlines()))


def value_of(quiz: Quiz, answer: str) -> str:
    """The value under which the browser keeps an answer: it goes by the text."""
    return digest(quiz.question, bare(answer))[:12]


def quiz_html(quiz: Quiz, source_html: str, output: str, output_html: str) -> str:
    """A quiz around its highlighted program, its answers in the order of their digests, which tells nothing."""
    name = name_of(quiz)
    answers = [(text, f"<strong>Wrong.</strong> {prose(because)}", "wrong") for text, because in quiz.wrong]
    answers.append((bare(output), f"<strong>Right.</strong> {prose(quiz.because)}", "right"))
    answers = sorted((value_of(quiz, answer[0]), *answer) for answer in answers)
    options = "".join(
        f'<li><label><input type="radio" name="{name}" value="{value}" autocomplete="off">'
        f"<samp>{html.escape(text)}</samp></label></li>"
        for value, text, _, _ in answers
    )
    reasons = "".join(f'<li class="it-{kind}">{said}</li>' for _, _, said, kind in answers)
    page, anchor = quiz.target
    href = html.escape(re.sub(r"\.\w+$", ".html", page) + "#" + anchor)
    return (
        f'<fieldset aria-describedby="hint-{name}"><legend>{prose(quiz.question)}</legend>{source_html}'
        f'<ol class="it-options" type="A">{options}</ol>'
        f'<p class="it-hint" id="hint-{name}">Arrow keys move, Enter answers.</p></fieldset>'
        f'<div class="it-verdict" role="status"></div><details><summary>Predict, then open</summary>{output_html}'
        f'<p>Explained in <a href="{href}">{prose(quiz.section.rpartition("#")[2])}</a>.</p>'
        f'<ol type="A">{reasons}</ol></details>'
    )


def panel_html(count: int, what: str, more: str = "", rules: str = "") -> str:
    """The reader's progress: of so many quizzes or other items, how many are done; `more` is HTML after that, and
    `rules` says what counts as done."""
    return (
        '<section class="it-progress" aria-label="Your progress" data-search-exclude>'
        f"<p><strong>Your progress</strong> <output>0 of {count} {what}</output>{more}</p>"
        '<p><button type="button" name="export">Export</button> <label>Import<input class="it-hidden" type="file" '
        'accept=".json,application/json"></label> <button type="button" name="reset">Reset</button></p>'
        f"<p>{rules}This browser keeps it, for all pages. Export saves it to a file, Import reads such a file, "
        "Reset forgets it.</p></section>"
    )


def progress_html(page_html: str) -> str:
    """The panel at the end of a page with quizzes; nothing for another page."""
    count = page_html.count('<div class="it-block it-quiz"')
    return panel_html(count, "right") if count else ""
