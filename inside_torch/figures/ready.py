"""The figure of the ready queue: at each step of backward, the nodes that were ready, found by running it."""

from collections import Counter
from typing import NamedTuple

import torch

from inside_torch.drawing.layout import MARGIN, PHONE, READ, WIDE, code_width
from inside_torch.drawing.svg import circle, group, rect, text

from .boxes import laid_out
from .graph import PILL, checked_names, explore, short_name
from .hooks import recorded

LARGEST = 2**64 - 1  # the sequence number of every AccumulateGrad
LINE, APART, HEAD, LEFT = PILL + 5, 8, 26, 34  # of pills; between two of them; height of the heading; of the first pill


class Ready(NamedTuple):
    """A node in the queue: its sequence number, counted from the oldest of its graph, and its name."""

    number: str
    name: str


def ready_queue(tensor: torch.Tensor, *, names: dict[str, torch.Tensor] | None = None, title: str) -> str:
    """The nodes behind `tensor` in the order in which backward ran them, a row for each: the node that ran is filled,
    and right of it stand the nodes that were ready, too, the largest sequence number first. The oldest node has number
    0, an `AccumulateGrad` has `max`. `names` maps labels to leaves. Backward retains the graph, and the gradients of
    the leaves are put back. Raises what `explore` raises, and ValueError where the node that ran has not the largest
    number of those that were ready, or not alone."""
    names = checked_names(names)
    nodes, edges = explore(tensor)
    ran = recorded(tensor, nodes)
    oldest = min(node._sequence_nr() for node in nodes)
    labels = {node: _label(node, oldest, names) for node in nodes}
    waits, ready, steps = Counter(b for a, b in edges if a), [nodes[0]], []
    for node in ran:
        ready.sort(key=lambda one: one._sequence_nr(), reverse=True)
        if ready[0] is not node or len({one._sequence_nr() for one in ready}) < len(ready):
            raise ValueError(f"{short_name(node)} is not alone at the head of {[labels[one].name for one in ready]}")
        steps.append([labels[one] for one in ready])
        ready.pop(0)
        for a, b in edges:
            if a and nodes[a - 1] is node:
                waits[b] -= 1
                ready += [nodes[b - 1]] * (not waits[b])
    said = [[f"{one.name} ({one.number})" for one in step] for step in steps]
    table = [[i, *step[0][::-1], ", ".join(told[1:])] for i, (step, told) in enumerate(zip(steps, said), 1)]
    told = [row[0] + f", while {' and '.join(row[1:])} waited" * bool(row[1:]) for row in said]
    told = ". ".join(f"{i} {row}" for i, row in enumerate(told, 1))
    desc = f"Each node that backward ran, with its sequence number, and the nodes that were ready, too. {told}."
    columns = ["runs as number", "node", "sequence number", "ready, too"]
    return laid_out(title, desc, columns, table, _draw, steps)


def _label(node, oldest: int, names: dict) -> Ready:
    """How a node is called: an AccumulateGrad with the name of its leaf, where that has one."""
    number, leaf = node._sequence_nr(), getattr(node, "variable", None)
    known = [name for name, named in names.items() if named is leaf]
    return Ready("max" if number == LARGEST else str(number - oldest), " ".join([short_name(node), *known]))


def _draw(steps: list, wide: bool) -> tuple:
    """The shapes, width and height: a row for each step, broken where the pills have no room."""
    width, pad = (WIDE, 14) if wide else (PHONE, 9)
    heads = {MARGIN: "step", LEFT + 6: "ready, largest sequence number first"}
    shapes = [text(x, MARGIN + 14, head, "it-note") for x, head in heads.items()]
    y = MARGIN + HEAD
    for i, step in enumerate(steps, 1):
        x, own = LEFT, [circle(MARGIN + 12, y + PILL / 2, 10, "it-element")]
        own.append(text(MARGIN + 12, y + 17, str(i), "it-step", "middle"))
        for place, one in enumerate(step):
            number, name = code_width(one.number, READ), code_width(one.name, READ)
            pill = number + name + 8 + 2 * pad
            if x > LEFT and x + pill > width - MARGIN:
                x, y = LEFT, y + LINE
            own.append(rect(x, y, pill, PILL, "it-pill" if place else "it-element", PILL / 2))
            own.append(text(x + pad, y + 17, one.number, "it-step it-2"))
            own.append(text(x + pad + number + 8, y + 17, one.name, "it-value"))
            x += pill + APART
        shapes.append(group("it-1", *own))
        y += LINE
    return shapes, width, y + MARGIN
