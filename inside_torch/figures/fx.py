"""The figure of captured graphs, read from the nodes of torch.fx.GraphModule objects."""

from typing import NamedTuple

import torch
from torch.fx import GraphModule, Node

from .svg import MARGIN, arrow_head, checked_label, code_width, element, figure, group, path, rect, text

MOST_NODES = 24  # more do not fit a page
BOX, ROW = 24, 38  # height of a node, from one node to the next
LANE = 9  # between two lines that run beside the nodes
CAPTION = 24  # height of a graph's own name
GAP = 22  # between two graphs


class Step(NamedTuple):
    """A node as it is drawn: the graph it belongs to, its name, what is written into its box."""

    graph: str
    name: str
    kind: str  # "tensor" for what goes in and out, "call" for what is computed
    said: str
    uses: tuple  # positions of the nodes whose results it takes


def fx_graphs(graphs: dict[str, GraphModule], *, title: str) -> str:
    """Captured graphs from top to bottom, each in a dashed frame, its nodes in the order they run:
    a rounded box for what goes in and out, a plain one for a call. A line joins a node to each node
    that uses its result. Where a graph returns a value and a later one takes an input of the same
    name, a dashed line on the right carries it: what a forward graph saves for its backward.

    `graphs` maps labels to one to three graph modules. Inputs that nobody uses are left out.
    Raises TypeError for what is no graph module, ValueError for no graph or more than 24 nodes.
    """
    if not isinstance(graphs, dict):
        raise TypeError(f"graphs must be a dict of label to GraphModule, got {type(graphs).__name__}")
    if not 1 <= len(graphs) <= 3:
        raise ValueError(f"a figure takes one to three graphs, got {len(graphs)}")
    steps, saved = _read(graphs)
    left_lanes = _lanes([(a, b) for b, step in enumerate(steps) for a in step.uses if b - a > 1])
    right_lanes = _lanes(saved)
    room = MARGIN + 10 + LANE * (max(left_lanes.values(), default=-1) + 2)
    widest = max(code_width(step.said) + 18 for step in steps)
    right = room + widest + LANE * (max(right_lanes.values(), default=-1) + 2)

    tops, frames, y = [], [], MARGIN
    for label in graphs:
        own = [step for step in steps if step.graph == label]
        height = CAPTION + ROW * (len(own) - 1) + BOX + 12
        frames.append((label, y, height))
        tops += [y + CAPTION + ROW * i for i in range(len(own))]
        y += height + GAP
    widest_label = max(code_width(label, 13) for label in graphs) + 16
    width = max(right + 8, MARGIN + widest_label)
    lines = [_flow(a, b, tops, room, widest, left_lanes) for b, step in enumerate(steps) for a in step.uses]
    carried = [_carry(a, b, tops, room + widest, right_lanes[a, b]) for a, b in saved]
    body = [
        group(
            "it-3",
            *(rect(MARGIN, top, width - MARGIN, height, "it-line it-dashed", 8) for _, top, height in frames),
        ),
        *(text(MARGIN + 8, top + 16, label, "it-name") for label, top, _ in frames),
        group("it-1", *lines),
        group("it-2", *carried),
        group("it-1", *(_box(step, room, tops[i], widest) for i, step in enumerate(steps))),
    ]
    return figure(
        body,
        width + MARGIN,
        y - GAP + MARGIN,
        title=title,
        desc=_describe(steps, saved),
        columns=["graph", "node", "is", "uses"],
        rows=[[s.graph, s.name, s.said, ", ".join(steps[i].name for i in s.uses)] for s in steps],
    )


def _read(graphs: dict) -> tuple:
    """Every node as a Step, and the pairs (returned by one graph, input of a later one)."""
    steps, returned, saved = [], {}, []
    for label, module in graphs.items():
        checked_label(label, "a graph's label")
        if not isinstance(module, GraphModule):
            raise TypeError(f"{label!r} must be a torch.fx.GraphModule, got {type(module).__name__}")
        nodes = [node for node in module.graph.nodes if node.op != "placeholder" or node.users]
        if not any(node.op == "output" for node in nodes):
            raise ValueError(f"{label!r} has no output node: not a finished graph")
        place = {node: len(steps) + i for i, node in enumerate(nodes)}
        steps += [_step(label, node, place) for node in nodes]
        saved += [
            (returned[node.name], i) for node, i in place.items() if node.op == "placeholder" and node.name in returned
        ]
        returned |= {node.name: place[node] for node in nodes[-1].all_input_nodes}
    if len(steps) > MOST_NODES:
        raise ValueError(f"the graphs have {len(steps)} nodes, and at most {MOST_NODES} can be drawn")
    return steps, saved


def _step(label: str, node: Node, place: dict) -> Step:
    uses = tuple(sorted(place[other] for other in node.all_input_nodes))
    if node.op in ("placeholder", "get_attr"):
        return Step(label, node.name, "tensor", f"{node.name}{_shape(node)}", uses)
    if node.op == "output":
        names = ", ".join(other.name for other in node.all_input_nodes)
        return Step(label, node.name, "tensor", f"return {names}", uses)
    target = _target(node)
    return Step(label, node.name, "call", target if target == node.name else f"{node.name} = {target}", uses)


def _shape(node: Node) -> str:
    """The shape of a node's value where the graph knows it, symbols included."""
    value = node.meta.get("val", node.meta.get("example_value"))
    return f" {tuple(value.shape)}" if isinstance(value, torch.Tensor) else ""


def _target(node: Node) -> str:
    """What a call node calls, without overload and module path: aten.sin, relu, .sum."""
    if node.op == "call_method":
        return f".{node.target}"
    if isinstance(node.target, torch._ops.OpOverload):
        return str(node.target.overloadpacket)
    return getattr(node.target, "__name__", str(node.target))


def _lanes(spans: list) -> dict:
    """A lane for each span (from, to), so that two spans in one lane never overlap; short ones inside."""
    lanes, chosen = [], {}
    for a, b in sorted(set(spans), key=lambda span: (span[1] - span[0], span)):
        free = (i for i, lane in enumerate(lanes) if all(b <= c or d <= a for c, d in lane))
        lane = next(free, len(lanes))
        if lane == len(lanes):
            lanes.append([])
        lanes[lane].append((a, b))
        chosen[a, b] = lane
    return chosen


def _side_head(x, y, right: bool) -> str:
    """A filled head whose tip is at (x, y), pointing right, or left."""
    back = -7 if right else 7
    return path("M", x, y, "L", x + back, y - 4, "V", y + 4, "Z", kind="it-head")


def _flow(a: int, b: int, tops: list, room, widest, lanes: dict) -> str:
    """A line from node a to node b that uses it: straight down to the next, else through a lane."""
    if b - a == 1:
        x = room + widest / 2
        return element("g", path("M", x, tops[a] + BOX, "V", tops[b] - 6), arrow_head(x, tops[b]))
    x = room - LANE * (lanes[a, b] + 1) - 4
    start, end = tops[a] + BOX - 5, tops[b] + 7
    line = path("M", room, start, "H", x + 4, "Q", x, start, x, start + 4, "V", end - 4,
                "Q", x, end, x + 4, end, "H", room - 6)  # fmt: skip
    return element("g", line, _side_head(room, end, right=True))


def _carry(a: int, b: int, tops: list, edge, lane: int) -> str:
    """A line on the right from node a to the input b of a later graph."""
    x = edge + LANE * (lane + 1) + 4
    start, end = tops[a] + BOX / 2, tops[b] + BOX / 2
    line = path("M", edge, start, "H", x - 4, "Q", x, start, x, start + 4, "V", end - 4,
                "Q", x, end, x - 4, end, "H", edge + 6)  # fmt: skip
    return element("g", line, _side_head(edge, end, right=False))


def _box(step: Step, x, y, width) -> str:
    kind, radius = ("it-element", 8) if step.kind == "tensor" else ("it-pill", 0)
    return element(
        "g",
        rect(x, y, width, BOX, kind, radius),
        text(x + width / 2, y + 16, step.said, "it-value", "middle"),
    )


def _describe(steps: list, saved: list) -> str:
    """What is to be seen, in sentences, for those who do not see it."""
    said = []
    for step in steps:
        uses = f", from {', '.join(steps[i].name for i in step.uses)}" if step.uses else ""
        said.append(f"{step.graph}: {step.said}{uses}.")
    said += [f"{steps[a].name} is returned by {steps[a].graph} and taken by {steps[b].graph}." for a, b in saved]
    return " ".join(said)
