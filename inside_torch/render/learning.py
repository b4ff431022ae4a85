"""The learning path: what a reader can do after each chapter, as items to tick, how long the chapter takes, and what to
read before it, told and drawn from the pages' own links."""

import re
from collections.abc import Sequence

from inside_torch.book import Page
from inside_torch.build import Build
from inside_torch.drawing.layout import code_width, layered
from inside_torch.drawing.svg import arrow_head, figure, group, path, rect, text
from inside_torch.render.about import minutes
from inside_torch.render.figures import checked_figure, figure_html
from inside_torch.render.glossary import chapters
from inside_torch.render.prerequisites import ORDER, before, name_of, way
from inside_torch.render.quiz import value_of
from inside_torch.render.source import link_html
from inside_torch.run.cache import digest

MINUTES = re.compile(r"<!-- minutes ([\w./ -]+?) -->")
ITEM = re.compile(
    r'<li class="task-list-item"><input type="checkbox" disabled ?/?>\s*<!-- item (\w+) -->(.*?)</li>', re.S
)
PAD, LINE, LEVELS = 14, 16, 34  # beside a title, from line to line, between two levels of chapters


def duration(minutes: int) -> str:
    """Minutes as people say them: from an hour and a quarter on, as half hours."""
    halves = (minutes + 15) // 30
    return f"{minutes} minutes" if minutes < 75 else f"{halves // 2}{'½' * (halves % 2)} hours"


def done_values(pages: Sequence[Page], build: Build) -> dict[str, str]:
    """For the name of each quiz and exercise the value that the browser keeps when it is done. A quiz's is its right
    answer, so that answering it on its page ticks it here."""
    quizzes = [fence for page in chapters(pages) for fence in page.fences if fence.info == "quiz"]
    values = {name_of(one.quiz): value_of(one.quiz, build.result(one).output) for one in quizzes}
    return values | {name_of(page): digest("done", page.src)[:12] for page in pages if page.kind == "exercise"}


def drawn(aims: Sequence[str], pages: Sequence[Page]) -> str:
    """The chapters that lead to some others, and these, as an SVG; an arrow leads to what needs its start."""
    graph, there = before(pages), way(aims, pages)
    edges = [(i, j) for j, b in enumerate(there) for i, a in enumerate(there) if graph.has_edge(a.src, b.src)]
    rows = [[page.title, ", ".join(there[i].title for i, j in edges if there[j] is page)] for page in there]
    title = f"{len(there)} chapters: {', '.join(page.title for page in there if page.src in aims)}, and what they need"
    desc = " ".join(f"{name} needs {needs}." if needs else f"{name} needs no other." for name, needs in rows)
    layouts = [_layout(there, aims, edges, wrapped) for wrapped in (False, True)]
    return figure(*layouts[0], title, desc, ["chapter", "read before"], rows, layouts[1])


def _layout(there: Sequence[Page], aims: Sequence[str], edges: list, wrapped: bool) -> tuple:
    """Shapes, width and height; `wrapped` is for a phone, with a title's words on lines of their own."""
    said = [page.title.split() if wrapped else [page.title] for page in there]
    apart = PAD / 2 if wrapped else PAD
    wide = [max(code_width(line, 13 if page.src in aims else 12) for line in lines) for page, lines in zip(there, said)]
    sizes = [(one + 2 * PAD - apart, LINE * len(lines) + 12) for one, lines in zip(wide, said)]
    places, ways, width, height = layered(sizes, edges, LEVELS, apart)
    shapes = [s for (_, to), steps in zip(edges, ways) for s in (path(*steps), arrow_head(steps[-2], places[to][1]))]
    for vertex, (page, lines, (wide, high)) in enumerate(zip(there, said, sizes)):
        (middle, top), kind = places[vertex], "it-name" if page.src in aims else "it-value"
        shapes.append(rect(middle - wide / 2, top, wide, high, "it-pill", 14))
        shapes += [text(middle, top + LINE * (i + 1) + 2, line, kind, "middle") for i, line in enumerate(lines)]
    return [group("it-1", *shapes)], width, height


def filled(rendered: dict[str, str], build: Build) -> dict[str, str]:
    """The pages whose HTML asks for reading times, ways or items to tick, with these; `rendered` has all pages."""
    pages, takes = build.book.pages, {src: minutes(text) for src, text in rendered.items()}

    def time(found: re.Match[str]) -> str:
        return duration(sum(takes[src] for src in found[1].split()))

    def graph(found: re.Match[str]) -> str:
        name = f"way-{digest(found[1])[:8]}"
        drawing = figure_html(checked_figure(drawn(found[1].split(), pages)), link_html(name, "figure"))
        return f'<div id="{name}">{drawing}</div>'

    def tick(found: re.Match[str]) -> str:
        box = f'<input type="checkbox" name="{found[1]}" value="{values[found[1]]}" autocomplete="off">'
        return f'<li class="it-item"><label>{box} {found[2].strip()}</label></li>'

    asking = {src: text for src, text in rendered.items() if MINUTES.search(text)}
    values = done_values(pages, build) if asking else {}
    return {src: ITEM.sub(tick, ORDER.sub(graph, MINUTES.sub(time, text))) for src, text in asking.items()}
