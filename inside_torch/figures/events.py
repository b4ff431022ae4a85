"""The figure of a profiled step: the numbered events of forward as boxes in boxes, and beside each operator that made
a node the event of that node, found by its sequence number. Read from the events of a finished profile."""

from itertools import pairwise

from torch.profiler import profile

from inside_torch.drawing.checks import checked
from inside_torch.drawing.layout import MARGIN, code_width
from inside_torch.drawing.svg import arrow, group, rect, text

from .boxes import laid_out

HIGH, GAP, MOST = 24, 4, 24  # height of an event's name; between two boxes; events that can be drawn
ENGINE = "autograd::engine::evaluate_function: "


def numbered(event, depth: int, rows: list, nodes: dict) -> None:
    """Add what an event and those in it bring: to `rows` each event of forward that has a sequence number, as name,
    depth and number, in the order in which they began; to `nodes` the nodes of backward by number, as they ran."""
    node = event.name.removeprefix(ENGINE)
    if node != event.name:
        for one in event.cpu_children:
            if one.name == node and one.sequence_nr >= 0 and nodes.setdefault(one.sequence_nr, node) != node:
                raise ValueError(f"two nodes have the number {one.sequence_nr}")
        return
    if event.sequence_nr >= 0:
        rows.append((event.name.removeprefix("aten::"), depth, event.sequence_nr))
    for one in sorted(event.cpu_children, key=lambda one: one.time_range.start):
        numbered(one, depth + (event.sequence_nr >= 0), rows, nodes)


def event_pairs(prof: profile, *, title: str) -> str:
    """A profiled forward and backward. Left the events of forward that have a sequence number, first to last, boxes
    in boxes as the events lie in each other; in the middle the number, counted from the smallest. An operator that
    made a node is filled, and an arrow leads to the event of the node in backward, which runs from below to above.
    A box is as high as the events in it ask for; no time is drawn.

    Raises TypeError for no profile, ValueError where no node ran, where a node has no operator, where backward did
    not run the last number first, and for events or names that do not fit."""
    rows, nodes = [], {}
    roots = [one for one in checked(prof, profile, "prof").events() if one.cpu_parent is None]
    for event in sorted(roots, key=lambda one: one.time_range.start):
        numbered(event, 0, rows, nodes)
    makers = {number: i for i, (_, _, number) in enumerate(rows)}  # the last event with a number made the node
    if not nodes:
        raise ValueError("no node of backward was recorded")
    if missing := [name for number, name in nodes.items() if number not in makers]:
        raise ValueError(f"no operator of forward was recorded for {missing[0]}")
    if any(a <= b for a, b in pairwise(nodes)):
        raise ValueError("backward did not run the last number first")
    if len(rows) > MOST:
        raise ValueError(f"{MOST} events with a number can be drawn, got {len(rows)}")
    first = min(makers)
    made = [nodes.get(number, "") if makers[number] == i else "" for i, (_, _, number) in enumerate(rows)]
    table = [[name, depth, number - first, node] for (name, depth, number), node in zip(rows, made)]
    said = [
        f"{name} at depth {depth} with number {number}" + f", which made {node}" * bool(node)
        for name, depth, number, node in table
    ]
    desc = "Events of forward with a sequence number, in order: " + "; ".join(said) + "."
    columns = ["event in forward", "depth", "sequence number", "node in backward"]
    return laid_out(title, desc, columns, table, _draw, table, kind="")


def _draw(table: list, wide: bool) -> tuple:
    """The shapes, their width and height."""
    size, pad, indent, inset, apart = (13, 14, 20, 4, 84) if wide else (12, 3, 6, 2, 14)
    inner = max((indent + inset) * depth + code_width(name, size) for name, depth, *_ in table) + 2 * pad
    middle = MARGIN + inner + (36 if wide else 10)
    start = middle + (14 if wide else 6)
    right = start + apart
    width = max(code_width(node, size) for *_, node in table) + (2 * pad if wide else 6)
    heads = [(MARGIN, "forward, downwards"), (right, "backward, upwards")]
    shapes = [text(x, MARGIN + 12, said, "it-value it-note") for x, said in heads]
    shapes += [text(middle, MARGIN + 12, "number", "it-value it-note", "middle")] * wide
    boxes = []

    def place(i: int, y) -> tuple:
        """Draw event `i` and those in it from `y` down; the event after them, and where the box ends."""
        name, depth, number, node = table[i]
        kind, centre = ("it-name" if wide else "it-step") if node else "it-value", y + HIGH / 2
        shapes.append(text(MARGIN + indent * depth + pad, centre + 4.5, name, kind))
        shapes.append(text(middle, centre + 4.5, str(number), kind if node else "it-value it-note", "middle"))
        if node:
            shapes.extend(arrow(right - 1, centre, "right", "M", start, centre))
            shapes.append(rect(right, y + 1, width, HIGH - 2, "it-pill", 11))
            shapes.append(text(right + width / 2, centre + 4.5, node, "it-value", "middle"))
        after, bottom, at = i + 1, y + HIGH, len(boxes)
        while after < len(table) and table[after][1] > depth:
            after, bottom = place(after, bottom)
            bottom += GAP
        narrower = inner - (indent + inset) * depth
        box = rect(MARGIN + indent * depth, y, narrower, bottom - y, "it-element" if node else "it-tab", 4)
        boxes.insert(at, box)  # behind the boxes in it
        return after, bottom

    i, y = 0, MARGIN + 24
    while i < len(table):
        i, y = place(i, y)
        y += 2 * GAP
    return [group("it-1 it-large" if wide else "it-1", *boxes, *shapes)], right + width + MARGIN, y - GAP
