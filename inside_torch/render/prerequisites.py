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
GROUP = re.compile(r"^  - ([\w ]+):\n((?:   .*\n)+)", re.M)
OBJECTIVE = re.compile(r"After this page you can (?:[^.]|\.(?!\s|$))+\.")
BELONGS = re.compile(r"## What it teaches\n+.*?\]\(\.\./([\w-]+\.md)", re.S)
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


def listed(page: Page, pages: Sequence[Page], graph: networkx.DiGraph, folder: str, root: Path) -> str:
    """A chapter as Markdown for a page in `folder`: how long it takes, what comes before, and what to be able to do."""

    def link(one: Page) -> str:
        return f"[{one.title}]({posixpath.relpath(one.src, folder or '.')})"

    first = [link(one) for one in chapters(pages, root) if graph.has_edge(one.src, page.src)]
    lines = [f"**{link(page)}** takes <!-- minutes {page.src} -->. {moved(objective(page), page, folder)}"]
    lines[0] += f" Read {' and '.join(first)} before." * bool(first)
    items = [(one, one.question) for one in quizzes(page)]
    items += [(one, f"Exercise: {link(one)}") for one in exercises_of(page, pages, root)]
    lines += ["", f'??? note "{len(items)} to answer or to do"', ""] * bool(items)
    return "\n".join(lines + [f"    - [ ] <!-- item {name_of(one)} -->{said}" for one, said in items])


def expanded(page: Page, pages: Sequence[Page], root: Path = ROOT) -> str:
    """The Markdown of a page with every chapter of the book in place of its marker, and below each way its order."""
    if CHAPTERS not in page.text and not ORDER.search(page.text):
        return page.text
    folder, known = posixpath.dirname(page.src), {one.src: one for one in chapters(pages, root)}
    parts, graph = [], before(pages, root)
    for group, entries in GROUP.findall((root / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]):
        if here := [known[src] for src in re.findall(r"[\w/-]+\.md", entries) if src in known]:
            times = f"<!-- minutes {' '.join(one.src for one in here)} -->"
            parts += [f"### {group}", f"Together {times}.", *(listed(one, pages, graph, folder, root) for one in here)]

    def ordered(found: re.Match[str]) -> str:
        there = way(found[1].split(), pages, root)
        links = ", ".join(f"[{one.title}]({posixpath.relpath(one.src, folder or '.')})" for one in there)
        times = f"<!-- minutes {' '.join(one.src for one in there)} -->"
        return f"{found[0]}\n\nIn order, {times}: {links}."

    return ORDER.sub(ordered, page.text.replace(CHAPTERS, "\n\n".join(parts)))
