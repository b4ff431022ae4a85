"""The glossary: every term with the sentence of the page that defines it, and what people get wrong about it."""

import html
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from markdown import markdown as rendered

from inside_torch.book import DEFINED, INLINE_CODE, Page, reading_order
from inside_torch.edition import ROOT

# `<!-- glossary`, then lines `term: what people get wrong`, then `-->`.
MARKER = re.compile(r"<!-- glossary\n(.*?)-->", re.S)
UNDEFINED = "no chapter defines this term"
PARAGRAPH = re.compile(r"\n\s*(?:[-*]|\d+\.)\s|\n\s*\n")  # the items of a list are paragraphs, too
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\[*(])|(?<=:)\s+(?=[A-Z*])")


@dataclass(frozen=True)
class Term:
    """A term, the sentence that defines it (Markdown, with the links of its page), and that page."""

    name: str
    sentence: str
    page: Page


def chapters(pages: Sequence[Page], root: Path = ROOT) -> list[Page]:
    """The chapters among some pages, in the order in which they are read, those outside of it last."""
    known = {page.src: page for page in pages if page.kind == "chapter"}
    return [known[src] for src in dict.fromkeys([*reading_order(root), *known]) if src in known]


def sentences(prose: str) -> Iterator[str]:
    """The sentences of a page's prose, each on one line. None ends inside of inline code."""
    for paragraph in PARAGRAPH.split(prose):
        text, start = " ".join(paragraph.split()), 0
        for gap in SENTENCE.finditer(INLINE_CODE.sub(lambda code: "`" * len(code[0]), text)):
            yield text[start : gap.start()]
            start = gap.end()
        yield text[start:]


def defined(pages: Sequence[Page]) -> dict[str, Term]:
    """The terms of chapters by their names in lower case, each from the first page that defines it."""
    found: dict[str, Term] = {}
    for page in pages:
        for sentence in sentences(page.prose):
            for name in DEFINED.findall(sentence):
                found.setdefault(name.lower(), Term(name, sentence, page))
    return found


def unlinked(page: Page, terms: dict[str, Term]) -> Iterator[tuple[int, str]]:
    """Line and text of each of the terms that a page uses below a heading, but neither defines nor links to on the line
    of the first use."""
    prose = re.sub(r"\]\([^()]*\)|^#.*", lambda found: " " * len(found[0]), page.words, flags=re.M)
    own, lines = {name.lower() for name in page.terms}, page.words.split("\n")
    for name, term in terms.items():
        found = re.search(rf"(?<![\w.*-]){re.escape(name)}s?(?![\w*-])", prose, re.I)
        if name in own or not found:
            continue
        line = prose.count("\n", 0, found.start())
        folder = posixpath.dirname(page.src)
        leads = re.findall(r"\]\(([^()\s]+)\)", lines[line])
        leads = {posixpath.normpath(posixpath.join(folder, one)) for one in leads}
        leads |= {one.partition("#")[0] for one in leads}
        if not leads & {term.page.src, f"reference/glossary.md#{name.replace(' ', '-')}"}:
            yield line + 1, f"uses `{name}`, which {term.page.src} defines later"


def moved(sentence: str, page: Page, folder: str) -> str:
    """A sentence for a page in `folder`: its links lead where they led, and its terms are no definitions here."""

    def link(found: re.Match[str]) -> str:
        path, mark, anchor = found[1].partition("#")
        src = posixpath.join(posixpath.dirname(page.src), path) if path else page.src
        return f"]({posixpath.relpath(src, folder or '.')}{mark}{anchor})"

    return re.sub(r"\]\((?!\w+:)([^()\s]+)\)", link, DEFINED.sub(lambda m: m[0].replace("*", ""), sentence))


def defining(page_html: str, page: Page, terms: dict[str, Term]) -> str:
    """A rendered page whose links to the terms of other pages have their definitions as titles: browsers show them
    to a pointer, and book.js to whoever comes to a link by keyboard."""

    def link(found: re.Match[str]) -> str:
        name = html.unescape(found[2])
        term = terms.get(name.lower()) or terms.get(name.lower().removesuffix("s"))
        if not term or term.page is page or not name.startswith((term.name, term.name.lower())):
            return found[0]
        said = re.sub(r"<[^>]+>", "", rendered(term.sentence.rstrip(":"))).replace("$", "")
        return f'<a href="{found[1]}" title="{said.replace(chr(34), "&quot;")}">{found[2]}</a>'

    return re.sub(r'<a href="((?!\w+:)[^"]+)">([^<]+)</a>', link, page_html)


def mistakes(text: str) -> dict[str, str]:
    """What people get wrong, by term, from lines `term: text`."""
    return {name: said for name, _, said in (line.partition(": ") for line in text.splitlines() if line.strip())}


def markdown(wrong: str, pages: Sequence[Page], folder: str = "") -> str:
    """The glossary as Markdown for a page in `folder` of docs/; a mistake about no term makes a line that says so."""
    terms, errors = defined(chapters(pages)), mistakes(wrong)
    entries = [f"- **{name}**: {UNDEFINED}" for name in sorted(errors.keys() - terms.keys())]
    for name, term in sorted(terms.items()):
        title, path = term.page.title, posixpath.relpath(term.page.src, folder or ".")
        said = moved(term.sentence.rstrip(":") + "." * term.sentence.endswith(":"), term.page, folder)
        mistake = f"<br>**Often wrong:** {errors[name]}" if name in errors else ""
        entries.append(f"- **{term.name}**{{ #{name.replace(' ', '-')} }} · [{title}]({path})<br>{said}{mistake}")
    return "\n".join(entries)
