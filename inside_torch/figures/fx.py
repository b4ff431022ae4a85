"""The figure of captured graphs, read from the nodes of torch.fx.GraphModule objects."""

import re

import torch
from torch.fx import GraphModule, Node

from inside_torch.drawing.checks import checked_dict
from inside_torch.drawing.layout import MARGIN, code_width, lanes
from inside_torch.drawing.svg import arrow, arrow_down, box, element, figure, group, rect, text

MOST_NODES = 24  # more do not fit a page
BOX, ROW = 24, 38  # height of a node, from one node to the next
LANE = 9  # between two lines that run beside the nodes
CAPTION, GAP = 24, 22  # height of a graph's own name, and between two graphs


def fx_graphs(graphs: dict[str, GraphModule], *, title: str) -> str:
    """Captured graphs from top to bottom, each in a dashed frame, its calls in the order they run and an input right
    before its first use: a rounded box for what goes in and out, a plain one for a call. A line joins a node to each
    node that uses its result. Where a graph returns a value and a later one takes an input of the same name, a dashed
    line on the right carries it: what a forward graph saves for its backward. `graphs` maps labels to one to three
    graph modules. Inputs that nobody uses are left out. Raises TypeError for what is no graph module, ValueError for no
    graph or more than 24 nodes."""
    places, saved, rows = _read(checked_dict(graphs, GraphModule, "graphs", 3))
    uses = [(a, b) for node, b in places.items() for a in sorted(places[used] for used in node.all_input_nodes)]
    on_left, on_right = lanes([(a, b) for a, b in uses if b - a > 1]), lanes(saved)
    left = MARGIN + 10 + LANE * (max(on_left.values(), default=-1) + 2)
    wide = max(code_width(row[2]) + 18 for row in rows)
    middle, right = left + wide / 2, left + wide
    width = right + LANE * (max(on_right.values(), default=-1) + 2) + 8
    width = max(width, *(MARGIN + code_width(label, 13) + 16 for label in graphs))
    tops, frames, names, y = [], [], [], MARGIN
    for label in graphs:
        count = sum(row[0] == label for row in rows)
        height = CAPTION + ROW * (count - 1) + BOX + 12
        frames.append(rect(MARGIN, y, width - MARGIN, height, "it-line it-dashed", 8))
        names.append(text(MARGIN + 8, y + 16, label, "it-name"))
        tops += [y + CAPTION + ROW * i for i in range(count)]
        y += height + GAP
    flows = {(a, b): arrow_down(middle, tops[a] + BOX, tops[b]) for a, b in uses if b - a == 1}
    flows |= {(a, b): _beside(left, tops[a] + BOX - 5, tops[b] + 7, lane, -1) for (a, b), lane in on_left.items()}
    carried = [_beside(right, tops[a] + BOX / 2, tops[b] + BOX / 2, on_right[a, b], 1) for a, b in saved]
    looks = [("it-pill", 0) if node.op.startswith("call_") else ("it-element", 8) for node in places]
    boxes = [box(middle, top, wide, BOX, row[2], *look) for row, top, look in zip(rows, tops, looks)]
    tones = [(1, [flows[span] for span in uses]), (2, carried), (1, boxes)]
    body = [group("it-3", *frames), *names, *(group(f"it-{t}", *(element("g", *one) for one in s)) for t, s in tones)]
    desc = [f"{graph}: {said}{', from ' * bool(used)}{used}." for graph, _, said, used in rows]
    desc += [f"{rows[a][1]} is returned by {rows[a][0]} and taken by {rows[b][0]}." for a, b in saved]
    columns = ["graph", "node", "is", "uses"]
    return figure(body, width + MARGIN, y - GAP + MARGIN, title, " ".join(desc), columns, rows)


def _read(graphs: dict) -> tuple:
    """Each node's place, the pairs of places (returned by one graph, input of a later one), and the table."""
    places, returned, saved, rows = {}, {}, [], []
    for label, module in graphs.items():
        nodes = [node for node in module.graph.nodes if node.op != "placeholder" or node.users]
        if not any(node.op == "output" for node in nodes):
            raise ValueError(f"{label!r} has no output node: not a finished graph")
        order = {node: i for i, node in enumerate(nodes)}
        nodes.sort(key=lambda n: min(map(order.get, n.users)) - 0.5 if n.op == "placeholder" else order[n])
        places |= {node: i for i, node in enumerate(nodes, len(places))}
        for node in nodes:
            used = sorted(node.all_input_nodes, key=places.get)
            rows.append([label, _name(node), _said(node), ", ".join(map(_name, used))])
            if node.op == "placeholder" and node.name in returned:
                saved.append((returned[node.name], places[node]))
        returned |= {node.name: places[node] for node in nodes[-1].all_input_nodes}
    if len(places) > MOST_NODES:
        raise ValueError(f"the graphs have {len(places)} nodes, and at most {MOST_NODES} can be drawn")
    return places, saved, rows


def _name(node: Node) -> str:
    """The node's own; of a parameter the name that it has in its model (0.weight)."""
    return re.sub(r"l_(?:self|fn)_modules_(\w+)_parameters_(\w+)_", r"\1.\2", node.name).replace("_modules_", ".")


def _said(node: Node) -> str:
    """What a node's box says. What a call calls is named without overload and module path (aten.sin, relu, .sum); of
    an input the shape stands there where the graph knows it."""
    if node.op in ("placeholder", "get_attr"):
        value = node.meta.get("val", node.meta.get("example_value"))
        return _name(node) + (f" {tuple(value.shape)}" if isinstance(value, torch.Tensor) else "")
    if node.op == "output":
        return f"return {', '.join(other.name for other in node.all_input_nodes)}"
    target = getattr(node.target, "__name__", str(node.target))
    if isinstance(node.target, torch._ops.OpOverload):
        target = str(node.target.overloadpacket)
    target = "." * (node.op == "call_method") + target
    return target if target == node.name else f"{node.name} = {target}"


def _beside(edge, start, end, lane: int, side: int) -> list:
    """An arrow between two heights through a lane beside the boxes, left of them (side -1) or right (1)."""
    x, out = edge + side * (LANE * (lane + 1) + 4), side * 4
    turns = ("H", x - out, "Q", x, start, x, start + 4, "V", end - 4, "Q", x, end, x - out, end)
    return arrow(edge, end, "left" if side > 0 else "right", "M", edge, start, *turns)
