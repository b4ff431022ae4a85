"""What a reader can do after a chapter, which exercises belong to it, and which chapters come before it: read from the
pages' own sentences and links, and listed on the page that has the marker."""

import posixpath
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import networkx

from inside_torch.book import Page, reading_order
from inside_torch.edition import ROOT
from inside_torch.quiz import Quiz
from inside_torch.render.glossary import chapters, moved
from inside_torch.run.cache import digest

CHAPTERS = "<!-- chapters -->"
ORDER = re.compile(r"<!-- way ([\w., -]+?) -->")
SAID = re.compile(r"<!-- (whole|ways|items|shared|elsewhere) -->")
GROUP = re.compile(r"^  - ([\w ]+):\n((?:   .*\n)+)", re.M)
OBJECTIVE = re.compile(r"After this page you can (?:[^.]|\.(?!\s|$))+\.")
BELONGS = re.compile(r"## What it teaches\n+.*?\]\(\.\./([\w-]+\.md)", re.S)
AIM = "After this page you can "
OFTEN = 2  # links to an earlier chapter, from which on it has to be read before; one may be a remark


def objective(page: Page) -> str:
    """The sentence of a chapter that says what its reader can do, or nothing."""
    found = OBJECTIVE.search(" ".join(page.prose.split()))
    return found[0] if found else ""


def before(pages: Sequence[Page], root: Path = ROOT) -> networkx.DiGraph:
    """The chapters, in the order of the book, by `src`: an edge leads to the one that links the other often, and comes
    later, if no way over others does. Links to PyTorch's source and what follows them do not count."""
    graph = networkx.DiGraph()
    for page in chapters(pages, root):
        text = page.prose.partition("\n## In the source")[0]
        linked = Counter(re.findall(r"\]\(([\w-]+\.md)", text))
        earlier = [src for src in graph if linked[src] >= OFTEN]
        graph.add_node(page.src)
        graph.add_edges_from((src, page.src) for src in earlier)
    return networkx.transitive_reduction(graph)


def way(aims: Sequence[str], pages: Sequence[Page], root: Path = ROOT) -> list[Page]:
    """The chapters with these `src`, and all that have to be read before them, in the order of the book."""
    graph = before(pages, root)
    there = set(aims).union(*(networkx.ancestors(graph, src) for src in aims))
    return [page for page in chapters(pages, root) if page.src in there]


def in_all(ways: Sequence[Sequence[Page]]) -> list[Page]:
    """The chapters that all of some ways have, in the order of the book."""
    return [page for page in ways[0] if all(page in there for there in ways)] if ways else []


def exercises_of(page: Page, pages: Sequence[Page], root: Path = ROOT) -> list[Page]:
    """The exercises that name a chapter first where they say what they teach."""
    known = {one.src: one for one in pages if one.kind == "exercise"}
    ordered = [known[src] for src in reading_order(root) if src in known]
    return [one for one in ordered if (found := BELONGS.search(one.text)) and found[1] == page.src]


def quizzes(page: Page) -> list[Quiz]:
    """The quizzes of a page."""
    return [fence.quiz for fence in page.fences if fence.info == "quiz"]


def name_of(item: Quiz | Page) -> str:
    """The name under which the browser keeps what a reader did with a quiz or an exercise."""
    return digest(*(("exercise", item.src) if isinstance(item, Page) else (item.question, item.program)))[:12]


def time(pages: Sequence[Page], marker: str = "minutes") -> str:
    """What learning.py turns into the time that it takes to read some pages, once they are rendered."""
    return f"<!-- {marker} {' '.join(page.src for page in pages)} -->"


def linked(pages: Sequence[Page], folder: str) -> str:
    """The titles of pages as links of a page in `folder`."""
    return ", ".join(f"[{page.title}]({posixpath.relpath(page.src, folder or '.')})" for page in pages)


def plan(here: Sequence[Page], pages: Sequence[Page], graph: networkx.DiGraph, folder: str, root: Path) -> str:
    """A Markdown table of some chapters, for a page in `folder`: how long each takes, what to be able to do after it,
    what it builds on, and a place for its quizzes and exercises."""
    rows = ["| chapter | minutes | you can then | builds on | done |", "|---|---|---|---|---|"]
    for page in here:
        aim = moved(objective(page), page, folder).removeprefix(AIM).removesuffix(".").replace("|", "\\|")
        first = linked([one for one in chapters(pages, root) if graph.has_edge(one.src, page.src)], folder)
        cells = [linked([page], folder), time([page], "min"), aim, first, f"<!-- items {page.src} -->"]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def expanded(page: Page, pages: Sequence[Page], root: Path = ROOT) -> str:
    """The Markdown of a page with every chapter of the book in place of its marker, and what its ways have in common
    and leave out."""
    aims = ORDER.findall(page.text)
    if CHAPTERS not in page.text and not aims:
        return page.text
    folder, known, graph = posixpath.dirname(page.src), chapters(pages, root), before(pages, root)
    ways = [way(some.split(), pages, root) for some in aims]

    def said(found: re.Match[str]) -> str:
        shared = in_all(ways)
        alone = [one for one in known if not any(one in there for there in ways)]
        if found[1] == "whole":
            return f"{len(known)} chapters and takes {time(known)}"
        if found[1] == "items":
            some = [sum(map(len, map(quizzes, known))), sum(len(exercises_of(page, pages, root)) for page in known)]
            return f"{some[0]} quizzes and {some[1]} exercises"
        if found[1] == "ways":
            return f"<!-- between {' ; '.join(' '.join(one.src for one in there) for there in ways)} -->"
        return linked(shared if found[1] == "shared" else alone, folder) + f" ({time(shared)})" * (found[1] == "shared")

    parts, by_src = [], {one.src: one for one in known}
    for part, entries in GROUP.findall((root / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]):
        if here := [by_src[src] for src in re.findall(r"[\w/-]+\.md", entries) if src in by_src]:
            parts += [f"### {part}", f"Together {time(here, 'total')}.", plan(here, pages, graph, folder, root)]
    return SAID.sub(said, page.text.replace(CHAPTERS, "\n\n".join(parts)))
