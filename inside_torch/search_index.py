"""The search index: each section also under the terms that it defines, so that a term leads to its definition."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

# A term stands in italics, after an article, where it is defined.
DEFINED = re.compile(r"\b[Aa]n? \*([A-Za-z][\w -]*)\*")


def sections_of(page: str, docs: list[dict]) -> Iterator[tuple[dict, str]]:
    """The index's entries of a page, in order, each with its text without markup."""
    for doc in docs:
        if doc["location"].partition("#")[0] == f"{page}.html":
            yield doc, html.unescape(re.sub(r"<[^>]+>", "", doc["text"]))


def with_terms(index: dict, pages: dict[str, str]) -> dict:
    """The index, each term in the entry that defines it; `pages`: Markdown by name. Changes `index` in place."""
    for page, markdown in pages.items():
        for term in DEFINED.findall(markdown):
            for doc, text in sections_of(page, index["docs"]):
                if re.search(rf"\b[Aa]n? {re.escape(term)}\b", text):
                    doc["terms"] = " ".join([*doc.get("terms", "").split(), term])
                    break
    return index


def finish(site: Path, docs: Path) -> None:
    """Complete the index of a finished site, and write it as a script, too: a page in a folder can load only that."""
    file = site / "search" / "search_index.json"
    if not file.exists():
        return
    pages = {path.stem: path.read_text(encoding="utf-8-sig") for path in sorted(docs.glob("*.md"))}
    text = json.dumps(with_terms(json.loads(file.read_text(encoding="utf-8")), pages), separators=(",", ":"))
    file.write_text(text, encoding="utf-8", newline="\n")
    file.with_suffix(".js").write_text(f"var __index = {text}", encoding="utf-8", newline="\n")
