"""The learning path: what a reader can do after each chapter, as items to tick, how long the chapter takes, and what to
read before it, told and drawn from the pages' own links."""

import dataclasses
import html
import posixpath
import re
from collections.abc import Sequence
from xml.etree import ElementTree

import networkx

from inside_torch.book import Page
from inside_torch.build import Build
from inside_torch.drawing.layout import NARROW, ROOM, code_width, layered
from inside_torch.drawing.svg import arrow_head, figure, group, path, rect, text
from inside_torch.fences import Fence
from inside_torch.render.about import LINES, WORDS, minutes
from inside_torch.render.fences import block_name
from inside_torch.render.figures import SVG, checked_figure, figure_html
from inside_torch.render.glossary import chapters
from inside_torch.render.prerequisites import ORDER, before, exercises_of, in_all, linked, name_of, way
from inside_torch.render.quiz import panel_html, prose, value_of
from inside_torch.render.source import link_html
from inside_torch.run.cache import digest

TIME = re.compile(r"<!-- (minutes|min|total|between|pace)((?: [\w./;-]+)*) -->")
ITEMS = re.compile(r"<!-- items ([\w./-]+) -->")
PLAN = re.compile(r"<table>(?:(?!</table>).)*?<!-- items .*?</table>", re.S)
PROGRESS = "<!-- progress -->"
RULES = (
    "A quiz is done when you answer it right on its page, and an exercise when you tick it under "
    '<a href="#every-chapter">Every chapter</a>. A chapter is done when all its quizzes and exercises are. '
)
# A phone shows a row in two lines, and what is laid out anew is a table for whoever hears it only if told so.
ROLES = {"thead": "rowgroup", "tbody": "rowgroup", "tr": "row", "th": "columnheader", "td": "cell"}
PAD, LINE, LEVELS = 14, 16, 34  # beside a title, from line to line, between two levels of chapters


def duration(minutes: int) -> str:
    """Minutes as people say them: from an hour and a half on, as half hours."""
    halves = (minutes + 15) // 30
    return f"{minutes} minutes" if minutes < 90 else f"{halves // 2}{'½' * (halves % 2)} hours"


def timed(text: str, takes: dict[str, int]) -> str:
    """HTML or Markdown with times in place of its markers; `takes` has the minutes of each page."""

    def time(found: re.Match[str]) -> str:
        sums = sorted(sum(takes[src] for src in some.split()) for some in found[2].split(";"))
        least, most = duration(sums[0]), duration(sums[-1])
        said = {
            "minutes": most,
            "min": f"{sums[0]} min",
            "total": f"{sums[0]} minutes",
            "between": f"{least.removesuffix(' hours')} to {most}" if least != most else most,
            "pace": f"{WORDS} words or {LINES} lines of code",
        }
        return said[found[1]]

    return TIME.sub(time, text)


def in_words(page: Page, pages: Sequence[Page], rendered: dict[str, str]) -> Page:
    """A page for the forms that readers take along: its ways as lists, and the number of each chapter's items."""
    folder, takes = posixpath.dirname(page.src), {src: minutes(text) for src, text in rendered.items()}

    def order(found: re.Match[str]) -> str:
        there = way(found[1].split(), pages)
        return f"{len(there)} chapters, {duration(sum(takes[one.src] for one in there))}: {linked(there, folder)}."

    def count(found: re.Match[str]) -> str:
        return str(len(items_of({one.src: one for one in pages}[found[1]], pages)))

    text = timed(ITEMS.sub(count, ORDER.sub(order, page.text)), takes).replace(PROGRESS, "")
    return dataclasses.replace(page, text=text)


def items_of(page: Page, pages: Sequence[Page]) -> list[Fence | Page]:
    """What there is to do after a chapter: its quizzes, then its exercises."""
    return [fence for fence in page.fences if fence.info == "quiz"] + exercises_of(page, pages)


def done_values(pages: Sequence[Page], build: Build) -> dict[str, str]:
    """For the name of each quiz and exercise the value that the browser keeps when it is done. A quiz's is its right
    answer, so that answering it on its page ticks it here."""
    quizzes = [fence for page in chapters(pages) for fence in page.fences if fence.info == "quiz"]
    values = {name_of(one.quiz): value_of(one.quiz, build.result(one).output) for one in quizzes}
    return values | {name_of(page): digest("done", page.src)[:12] for page in pages if page.kind == "exercise"}


def drawn(aims: Sequence[str], pages: Sequence[Page], takes: dict[str, int], shared: Sequence[Page] = ()) -> str:
    """The chapters that lead to some others, and these, as an SVG; an arrow leads to what needs its start. Filled are
    those that this way shares with the others."""
    graph, there = before(pages), way(aims, pages)
    edges = [(i, j) for j, b in enumerate(there) for i, a in enumerate(there) if graph.has_edge(a.src, b.src)]
    needs = [", ".join(there[i].title for i, j in edges if there[j] is page) for page in there]
    rows = [[page.title, takes[page.src], first] for page, first in zip(there, needs)]
    title = f"{len(there)} chapters, {duration(sum(takes[page.src] for page in there))} to read"
    named = ", ".join(page.title for page in there if page.src in aims)
    needs = [f"{name} needs {first or 'no other'}." for name, _, first in rows]
    layouts = [_layout(there, aims, edges, shared, wrapped) for wrapped in (False, True)]
    desc = " ".join([f"This way is for {named}.", *needs])
    return figure(*layouts[0], title, desc, ["chapter", "minutes", "builds on"], rows, layouts[1])


def _layout(there: Sequence[Page], aims: Sequence[str], edges: list, shared: Sequence[Page], wrapped: bool) -> tuple:
    """Shapes, width and height; `wrapped` is for a phone, with a title's words on lines of their own."""
    said = [page.title.split() if wrapped else [page.title] for page in there]
    apart = PAD / 2 if wrapped else PAD
    wide = [max(code_width(line, 13 if page.src in aims else 12) for line in lines) for page, lines in zip(there, said)]
    sizes = [(one + 2 * PAD - apart, LINE * len(lines) + 12) for one, lines in zip(wide, said)]
    places, ways, width, height = _placed(sizes, edges, apart, NARROW if wrapped else ROOM)
    shapes = [s for (_, to), steps in zip(edges, ways) for s in (path(*steps), arrow_head(steps[-2], places[to][1]))]
    for vertex, (page, lines, (wide, high)) in enumerate(zip(there, said, sizes)):
        (middle, top), kind = places[vertex], "it-name" if page.src in aims else "it-value"
        said = [text(middle, top + LINE * (i + 1) + 2, line, kind, "middle") for i, line in enumerate(lines)]
        pill = rect(middle - wide / 2, top, wide, high, "it-pill it-shared" if page in shared else "it-pill", 14)
        shapes.append(group("it-to", pill, *said, data_to=page.url))
    return [group("it-1", *shapes)], width, height


def _placed(sizes: Sequence[tuple], edges: list[tuple], apart: float, room: float) -> tuple:
    """A layout that fits into the room, or else the narrowest found: as long as none fits, a box of the fullest level
    goes a level deeper, the one after which the rest is narrowest."""
    under, best = [], layered(sizes, edges, LEVELS, apart)
    narrowest = best
    while narrowest[2] > room and len(under) < len(sizes):
        graph = networkx.DiGraph([*edges, *under])
        graph.add_nodes_from(range(len(sizes)))
        levels = [level for level in map(sorted, networkx.topological_generations(graph)) if len(level) > 1]
        if not levels:
            break
        fullest = max(levels, key=lambda level: sum(sizes[one][0] + apart for one in level))
        tries = [(*under, (fullest[0], one)) for one in fullest[1:]] + [(*under, (fullest[-1], fullest[0]))]
        placed = [layered(sizes, edges, LEVELS, apart, some) for some in tries]
        at = min(range(len(tries)), key=lambda one: placed[one][2])
        under, best = list(tries[at]), placed[at]
        narrowest = min(narrowest, best, key=lambda layout: layout[2])
    return narrowest


def with_links(drawing: ElementTree.Element, folder: str) -> ElementTree.Element:
    """A checked drawing, for a page in `folder`, in which the box of each chapter leads to it."""
    for svg in [drawing, *drawing.findall(f"{SVG}svg")]:
        svg.set("role", "group")
    for box in [one for one in drawing.iter(f"{SVG}g") if one.get("data-to")]:
        box.tag = f"{SVG}a"
        box.set("href", posixpath.relpath(box.attrib.pop("data-to"), folder or "."))
    return drawing


def counted(pages: Sequence[Page], of: int, unit: str = "") -> str:
    """How many items of some chapters there are; book.js adds how many of them are done."""
    attributes = f'class="it-count"{unit} data-of="{" ".join(page.stem for page in pages)}"'
    return f"<span {attributes}>0 of </span>{of}"


def filled(rendered: dict[str, str], build: Build) -> dict[str, str]:
    """The pages whose HTML asks for reading times, ways, items to tick or the reader's progress, with these; `rendered`
    has all pages."""
    pages, takes = build.book.pages, {src: minutes(text) for src, text in rendered.items()}
    asking = {src: text for src, text in rendered.items() if TIME.search(text)}
    values = done_values(pages, build) if asking else {}
    items = {page.src: items_of(page, pages) for page in chapters(pages) if asking}

    def completed(src: str, text: str) -> str:
        folder = posixpath.dirname(src)

        shared = in_all([way(some.split(), pages) for some in ORDER.findall(text)])

        def to(page: Page) -> str:
            return posixpath.relpath(page.url, folder or ".")

        def graph(found: re.Match[str]) -> str:
            name, there = f"way-{digest(found[1])[:8]}", way(found[1].split(), pages)
            drawing = with_links(checked_figure(drawn(found[1].split(), pages, takes, shared)), folder)
            count = counted(there, sum(len(items[page.src]) for page in there))
            caption = f"<span>{count} quizzes and exercises</span> {link_html(name, 'figure')}"
            shown = figure_html(drawing, caption, "In reading order")
            for page in there:
                cell = f"<td>{html.escape(page.title)}</td>"
                shown = shown.replace(cell, f'<td><a href="{to(page)}">{html.escape(page.title)}</a></td>', 1)
            return f'<div id="{name}">{shown}</div>'

        def item(page: Page, one: Fence | Page) -> str:
            name, is_quiz = name_of(one.quiz if isinstance(one, Fence) else one), isinstance(one, Fence)
            href = f"{to(page)}#{block_name(one)}" if is_quiz else to(one)
            said = prose(one.quiz.question) if is_quiz else f"Exercise: {html.escape(one.title)}"
            box = f'<input type="checkbox" name="{name}" value="{values[name]}" autocomplete="off">'
            return f'<li class="it-item"><label>{box} <a href="{href}">{said}</a></label></li>'

        def questions(found: re.Match[str]) -> str:
            page = build.book.page(found[1])
            made = "".join(item(page, one) for one in items[page.src])
            count = counted([page], len(items[page.src]))
            hidden = f'<span class="it-hidden"> quizzes and exercises of {html.escape(page.title)}</span>'
            attributes = f'class="it-questions" data-chapter="{page.stem}"'
            return f"<details {attributes}><summary>{count}{hidden}</summary><ul>{made}</ul></details>"

        def table(found: re.Match[str]) -> str:
            made = found[0].replace("<table>", '<table class="it-plan" role="table">')
            for tag, role in ROLES.items():
                made = made.replace(f"<{tag}>", f'<{tag} role="{role}">')
            return ITEMS.sub(questions, made)

        known = chapters(pages)
        whole = counted(known, len(known), ' data-unit="chapter"')
        panel = panel_html(sum(map(len, items.values())), "quizzes and exercises", f", {whole} chapters", RULES)
        return timed(PLAN.sub(table, ORDER.sub(graph, text)), takes).replace(PROGRESS, panel)

    return {src: completed(src, text) for src, text in asking.items()}
