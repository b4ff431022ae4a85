"""The figure of a program beside the graph it leaves: each line with the nodes that it made, found by running it."""

from itertools import pairwise
from typing import NamedTuple

import torch

from inside_torch.drawing.layout import MARGIN, PHONE, READ, WIDE, code_width
from inside_torch.drawing.svg import arrow, circle, group, rect, text

from .boxes import laid_out
from .graph import PILL, checked_names, explore, shaped, short_name
from .hooks import recorded

ROW, INSET, HEAD = 32, 10, 26  # from a node to the next; around those of a line; height of the headings
LONGEST = 31  # characters of a line that a phone has room for


class Row(NamedTuple):
    """A node, in the order in which backward ran them."""

    line: int  # that made it, counted from 0
    name: str
    leaf: str  # name and shape of the tensor whose grad it writes
    depth: int  # behind the first node of its line
    sends: list  # to these rows


def program_graph(program: str, given: dict, *, names: dict[str, torch.Tensor] | None = None, title: str) -> str:
    """The lines of `program`, each beside the nodes that it made, with the number at which backward ran them. Arrows
    lead up, from a node to those it sends gradients to; an `AccumulateGrad` points at its leaf. Where a line uses a
    tensor twice, two arrows lead from its node to the same one. A line and its nodes light together. `given` are the
    names that the program uses, `names` maps labels to leaves. Each line assigns a tensor; backward starts from the
    last one, retains the graph, and the gradients of the leaves are put back. Raises TypeError for a line that assigns
    no tensor, ValueError for a long one or one without graph, for a node that was there before, and where backward
    does not run the lines backwards or an arrow would cross a node."""
    lines, names = program.strip().splitlines(), checked_names(names)
    made_by, result = _run(lines, dict(given))
    nodes, edges = explore(result)
    ran = recorded(result, nodes)
    rows = []
    for i, node in enumerate(ran):
        sent = [rows[a].depth + 1 for a in range(i) if i in rows[a].sends and made_by[ran[a]] == made_by[node]]
        leaf = shaped(node.variable, names, "leaf") if hasattr(node, "variable") else ""
        sends = [ran.index(nodes[b - 1]) for a, b in edges if a and nodes[a - 1] is node]
        rows.append(Row(made_by[node], short_name(node), leaf, max(sent, default=0), sends))
    _check(rows)
    told = [(row.line, f"{i} {row.name}") for i, row in enumerate(rows, 1)]
    said = [", ".join(node for line, node in told if line == n) for n in range(len(lines))]
    said = [f"{line} made {nodes or 'no node'}" for line, nodes in zip(lines, said)]
    table = [[i, row.name, lines[row.line], row.leaf] for i, row in enumerate(rows, 1)]
    columns = ["runs as number", "node", "made by", "adds to the grad of"]
    desc = f"Each node with the number at which backward ran it. {'. '.join(said)}."
    return laid_out(title, desc, columns, table, _draw, lines, said, rows)


def _run(lines: list, known: dict) -> tuple:
    """Runs the lines one by one: the line that each node came to be in, and the tensor that the last one assigned."""
    made_by, before = {}, torch._C._autograd._get_sequence_nr()
    for number, line in enumerate(lines):
        if len(line) > LONGEST:
            raise ValueError(f"a line has at most {LONGEST} characters: {line}")
        exec(line, known)
        result = known.get(line.partition("=")[0].strip())
        for node in explore(result)[0]:
            made_by.setdefault(node, number)
    if old := [short_name(node) for node in made_by if not hasattr(node, "variable") and node._sequence_nr() < before]:
        raise ValueError(f"{old[0]} was there before the program ran")
    return made_by, result


def _check(rows: list) -> None:
    """Raises ValueError where the drawing would not show what ran: lines out of order, arrows that cross a node."""
    for one, following in pairwise(rows):
        if one.line < following.line:
            raise ValueError(f"backward ran {one.name} before {following.name}, which a later line made")
    for i, row in enumerate(rows):
        for to in row.sends:
            passed = [between.name for between in rows[i + 1 : to] if between.depth <= row.depth]
            if passed or rows[to].depth > row.depth + 1 or row.sends.count(to) > 2:
                raise ValueError(f"the arrow from {row.name} to {rows[to].name} meets {(passed or ['another'])[0]}")


def _draw(lines: list, said: list, rows: list, wide: bool) -> tuple:
    """The shapes, width and height: each line left of its nodes where there is room, else above them."""
    width, step, left, top = (WIDE, 30, 312, 0) if wide else (PHONE, 24, 31, 24)
    heads = {MARGIN + 10: "line after line, forward runs down", left: "node after node, backward runs up"}
    shapes = [text(x, MARGIN + 14, head, "it-note") for x, head in heads.items() if wide or x == left]
    places, bands, y = {}, [], MARGIN + HEAD
    for number, line in enumerate(lines):
        own = [i for i, row in reversed(list(enumerate(rows))) if row.line == number]
        high = max(len(own), 1) * ROW + 2 * INSET + top
        for place, i in enumerate(own):
            places[i] = left + rows[i].depth * step, y + top + INSET + place * ROW + (ROW - PILL) / 2
        at = (MARGIN + 10, y + high / 2 + 5) if wide else (left + 40, y + 24)
        ground = rect(MARGIN, y, width - 2 * MARGIN, high, "it-ground", 6)
        bands.append((said[number], own, [ground, text(*at, line, "it-value")]))
        y += high
    for label, own, inside in bands:
        inside += [shape for i in own for shape in _arrows(places[i], [places[to] for to in rows[i].sends], wide)]
        inside += [shape for i in own for shape in _node(i, rows[i], *places[i], left - 17, wide)]
        shapes.append(group("it-band it-1", *inside, tabindex="0", role="img", aria_label=label))
    return shapes, width, y + MARGIN


def _node(i: int, row: Row, x, y, gutter, wide: bool) -> list:
    """A node as a pill, its number in the gutter, and the leaf that it adds to."""
    pill, middle = code_width(row.name, READ) + 24, y + PILL / 2
    shapes = [circle(gutter, middle, 10, "it-element"), text(gutter, y + 17, str(i + 1), "it-step", "middle")]
    shapes += [rect(x, y, pill, PILL, "it-pill", PILL / 2), text(x + 12, y + 17, row.name, "it-value")]
    if row.leaf:
        leaf, start, pad = (row.leaf, x + pill + 16, 10) if wide else (row.leaf.partition(" ")[0], x + pill + 12, 7)
        shapes += arrow(start, middle, "right", "M", x + pill, middle)
        shapes.append(rect(start, y, code_width(leaf, READ) + 2 * pad, PILL, "it-element", 6))
        shapes.append(text(start + pad, y + 17, leaf, "it-value"))
    return shapes


def _arrows(start: tuple, ends: list, wide: bool) -> list:
    """From the upper edge of a node up to others, or, right of that way, into the left sides of those further right.
    Each arrow has a stem of its own, the longest leftmost; the second one to the same node ends beside the first."""
    (x, y), shapes, turn, last = start, [], 11, None
    for to_x, to_y in sorted(ends, reverse=True, key=lambda end: end[1]):
        second = (to_x, to_y) == last
        if to_x > x:
            level = to_y + PILL / 2 + (4 if second else -4 * (ends.count((to_x, to_y)) > 1))
            shapes += arrow(to_x, level, "right", "M", to_x - turn, y, "V", level)
            turn += 6 if wide else 4
        else:
            stem = x + 5 + 12 * second
            shapes += arrow(stem, to_y + PILL, "up", "M", stem, y + 3 - 3 * second)
        last = to_x, to_y
    return shapes
