"""The search index: the book's sections as plain text, each with the terms that it defines, for assets/search.js."""

import html
import json
import re
from pathlib import Path

from inside_torch.book import BEFORE, Book


def plain(markup: str) -> str:
    """The text of what Material's plugin keeps of a section: the words of two paragraphs do not grow together."""
    text = re.sub(r"<[^>]+>", "", re.sub(r"</?(?:p|pre|[ou]l|li)>", " ", markup))
    return " ".join(html.unescape(text).split())


def with_terms(sections: list[dict], pages: dict[str, list[str]]) -> list[dict]:
    """The sections, each with the terms that it is the first of its page to define; `pages`: terms by address."""
    for section in sections:
        section["terms"] = []
    for page, terms in pages.items():
        own = [section for section in sections if section["location"].partition("#")[0] == page]
        for term in dict.fromkeys(terms):
            found = (one for one in own if re.search(rf"{BEFORE}{re.escape(term)}\b", one["text"]))
            if section := next(found, None):
                section["terms"].append(term)
    return sections


def finish(site: Path, book: Book) -> None:
    """Replace the plugin's index in a finished site by ours: a script, which a page in a folder can load as well."""
    file = site / "search" / "search_index.json"
    if not file.exists():
        return
    docs = json.loads(file.read_text(encoding="utf-8"))["docs"]
    sections = [{"location": doc["location"]} | {key: plain(doc[key]) for key in ("title", "text")} for doc in docs]
    terms = {page.url: page.terms for page in book.pages}
    text = json.dumps(with_terms(sections, terms), ensure_ascii=False, separators=(",", ":"))
    file.with_name("sections.js").write_text(f"var bookSections = {text}\n", encoding="utf-8", newline="\n")
    file.unlink()


def read(site: Path) -> list[dict]:
    """The sections of a finished site."""
    return json.loads((site / "search" / "sections.js").read_text(encoding="utf-8").partition(" = ")[2])
