"""The glossary: every term with the sentence of the page that defines it, and what people get wrong about it."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from inside_torch.book import DEFINED, Page, reading_order
from inside_torch.edition import ROOT

# `<!-- glossary`, then lines `term: what people get wrong`, then `-->`.
MARKER = re.compile(r"<!-- glossary\n(.*?)-->", re.S)
UNDEFINED = "no chapter defines this term"
SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`\[*])")


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


def defined(pages: Sequence[Page]) -> dict[str, Term]:
    """The terms of chapters by their names in lower case, each from the first page that defines it."""
    found: dict[str, Term] = {}
    for page in pages:
        for paragraph in re.split(r"\n\s*\n", page.prose):
            for sentence in SENTENCE.split(" ".join(paragraph.split())):
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
