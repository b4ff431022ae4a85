"""The figure of a backward graph, read from the nodes that hang on a tensor's grad_fn."""

from itertools import pairwise, product
from typing import NamedTuple

import torch

from .svg import (
    MARGIN,
    arrow_head,
    checked_label,
    code_width,
    fan,
    figure,
    group,
    path,
    rect,
    s_curve,
    spread,
    text,
)

MOST_NODES = 24  # more do not fit a page
PILL, BOX, TAB = 24, 26, 19  # heights of a node, of a tensor, of a thing saved
SAVES = 31  # width of the word saves on a tab
GAP = 40  # between two levels
LINE = "line"  # kind of card of an edge that passes a level


class Card(NamedTuple):
    """A node as it is drawn: its name over what it saves, or a tensor."""

    kind: str  # "result", "node" or LINE
    name: str
    notes: tuple = ()  # tensors of the caller that this node made, as text
    saved: tuple = ()  # of (attribute, "tensor" or "value", text)
    leaf: str = ""  # the tensor that an AccumulateGrad node adds to, as text


def backward_graph(tensor: torch.Tensor, *, names: dict[str, torch.Tensor] | None = None, title: str) -> str:
    """The graph behind `tensor.grad_fn`: the result on top, gradients flow down to the leaves. A
    node is a pill with its name, what it saves hangs from it as tabs, a leaf is drawn as a tensor.

    `names` maps labels to tensors: the result, leaves, tensors between, or anything saved. Left out
    are saved attributes that are None, and the sizes and strides of what is itself saved.
    Raises TypeError for what is no tensor, ValueError for a tensor without graph, a graph of more
    than 24 nodes, saved tensors that are freed, and a name that nothing in the graph answers to.
    """
    nodes, edges = _explore(tensor)
    names = _checked_names(names)
    # Vertex 0 is the result, vertex i the node i - 1.
    cards = [Card("result", _label(tensor, names, "result"))]
    cards += [_card(node, names, tensor) for node in nodes]
    edges = [(0, 1, tensor.output_nr)] + [(a + 1, b + 1, number) for a, b, number in edges]
    _check_answered(names, tensor, nodes)
    levels, hops = _levels(len(cards), edges)
    cards += [Card(LINE, "")] * (sum(map(len, levels)) - len(cards))
    centres = _centres(levels, hops, [_card_width(card) for card in cards])
    body, width, height = _draw(cards, levels, hops, centres)
    return figure(
        body,
        width,
        height,
        title=title,
        desc=_describe(cards, edges),
        columns=["node", "name", "saves", "leaf", "passes gradients to node"],
        rows=[
            [
                i,
                node.name(),
                ", ".join(f"{attribute} {said}" for attribute, _, said in _saved(node, names)),
                cards[i].leaf,
                ", ".join(str(b) for a, b, _ in edges if a == i),
            ]
            for i, node in enumerate(nodes, 1)
        ],
    )


def _checked_names(names) -> dict:
    """The names as given, {} for None. Raises for what is no dict of label to different tensors."""
    if not isinstance(names, dict | None):
        raise TypeError(f"names must be a dict of label to tensor, got {type(names).__name__}")
    for label, named in (names or {}).items():
        checked_label(label, "a name")
        if not isinstance(named, torch.Tensor):
            raise TypeError(f"{label!r} must be a torch.Tensor, got {type(named).__name__}")
    if len({label.strip() for label in names or {}}) < len(names or {}):
        raise ValueError(f"names must differ by more than blanks, got {list(names)}")
    if len({id(named) for named in (names or {}).values()}) < len(names or {}):
        raise ValueError(f"two names for one tensor: {list(names)}")
    return names or {}


def _explore(tensor: torch.Tensor) -> tuple:
    """Nodes reachable from a tensor's grad_fn, breadth first, and edges (from, to, output number)
    by position, in the order of next_functions. The list keeps the nodes alive, so that a node met
    twice is the same Python object. Raises TypeError for what is no tensor, ValueError for a tensor
    without graph and for a graph of too many nodes."""
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"tensor must be a torch.Tensor, got {type(tensor).__name__}")
    if tensor.grad_fn is None:
        raise ValueError("the tensor has no grad_fn: no operation made it from a leaf")
    nodes, edges = [tensor.grad_fn], []
    for i, node in enumerate(nodes):
        for following, output_number in node.next_functions:
            if following is None:  # an input that asks for no gradient
                continue
            if following not in nodes:
                nodes.append(following)
            edges.append((i, nodes.index(following), output_number))
        if len(nodes) > MOST_NODES:
            raise ValueError(f"the graph has more than {MOST_NODES} nodes: draw a part of it")
    return nodes, edges


def _card(node, names: dict, result: torch.Tensor) -> Card:
    """What is drawn of one node."""
    notes = tuple(
        f"grad_fn of {label}" for label, named in names.items() if named is not result and named.grad_fn is node
    )
    # A saved tensor makes its size and stride no news.
    saved = _saved(node, names)
    whole = {attribute for attribute, kind, _ in saved if kind == "tensor"}
    shown = tuple(entry for entry in saved if entry[0].split("_sym_")[0] not in whole - {entry[0]})
    leaf = _label(node.variable, names, "leaf") if hasattr(node, "variable") else ""
    return Card("node", node.name().split("::")[-1], notes, shown, leaf)


def _saved(node, names: dict) -> list:
    """What a node keeps for its backward: (attribute, "tensor" or "value", text), sorted by name.

    Generated nodes have an attribute `_saved_NAME` each, a torch.autograd.Function has the tuple
    `saved_tensors`. Raises ValueError when one can't be read, most often because it was freed.
    """
    attributes = [name for name in dir(node) if name.startswith("_saved_")]
    if isinstance(node, torch.autograd.function.BackwardCFunction):
        attributes.append("saved_tensors")
    entries = []
    for attribute in sorted(attributes):
        short = attribute.removeprefix("_saved_")
        try:
            value = getattr(node, attribute)
        except RuntimeError as error:
            raise ValueError(f"{node.name()} can't show {short!r}: {error}") from error
        several = isinstance(value, tuple | list) and any(isinstance(item, torch.Tensor) for item in value)
        pairs = [(f"{short}[{i}]", v) for i, v in enumerate(value)] if several else [(short, value)]
        for name, item in pairs:
            if isinstance(item, torch.Tensor):
                entries.append((name, "tensor", _saved_label(item, names)))
            elif item is not None:
                entries.append((name, "value", _plain(item, f"{node.name()}.{attribute}")))
    return entries


def _plain(value, where: str) -> str:
    """A saved value as text: the same in every process, so nothing that may print an address."""
    if isinstance(value, tuple | list):
        inner = ", ".join(_plain(item, where) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, float):
        return f"{value:g}"
    plain = bool | int | complex | str | None | torch.dtype | torch.device | torch.layout
    if isinstance(value, plain | torch.memory_format):
        return str(value)
    raise ValueError(f"{where} is a {type(value).__name__}, and no way is known to draw it")


def _same_memory(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors are one in memory: unpacking what a node saved makes a new object."""
    if a.layout != torch.strided or (a.layout, a.dtype, a.device) != (b.layout, b.dtype, b.device):
        return a is b
    return a.detach().is_set_to(b.detach())


def _saved_label(tensor: torch.Tensor, names: dict) -> str:
    """Name, if it has one, and shape of a tensor that a node saved."""
    known = [label for label, named in names.items() if _same_memory(tensor, named)]
    return " ".join([f"= {label}" for label in known[:1]] + [str(tuple(tensor.shape))])


def _label(tensor: torch.Tensor, names: dict, otherwise: str) -> str:
    """Name and shape of a tensor drawn as such."""
    known = [label for label, named in names.items() if named is tensor]
    return f"{(known or [otherwise])[0]} {tuple(tensor.shape)}"


def _check_answered(names: dict, result: torch.Tensor, nodes: list) -> None:
    """Raises ValueError for a name that the figure would not show: most often a typing error."""
    said = " ".join(text for node in nodes for _, kind, text in _saved(node, names))
    for label, named in names.items():
        leaf = any(getattr(node, "variable", None) is named for node in nodes)
        made = named is result or named.grad_fn in nodes
        if not (leaf or made or f"= {label} (" in said):
            raise ValueError(f"the graph reaches no tensor {label!r}")


def _levels(count: int, edges: list) -> tuple:
    """Vertices by level, and each edge as the vertices it passes, in the order it does.

    A level is as far below the result as its longest way. An edge that passes a level gets a vertex
    of its own there, numbered from `count` on. Levels are sorted so that edges cross little.
    """
    import networkx  # only this figure needs it, and a block starts faster without

    graph = networkx.MultiDiGraph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from((a, b) for a, b, _ in edges)
    levels = [sorted(level) for level in networkx.topological_generations(graph)]
    depth = {vertex: i for i, level in enumerate(levels) for vertex in level}
    hops = []
    for a, b, _ in edges:
        way = [a]
        for level in range(depth[a] + 1, depth[b]):
            levels[level].append(count)
            way.append(count)
            count += 1
        hops.append([*way, b])
    for _ in range(3):
        for i in reversed(range(len(levels) - 1)):
            levels[i].sort(key=_nearness(levels[i + 1], hops, down=True))
        for i in range(1, len(levels)):
            levels[i].sort(key=_nearness(levels[i - 1], hops, down=False))
    return levels, hops


def _neighbours(vertex: int, hops: list, down: bool) -> list:
    """(neighbour, edge) on the next level below or above, an entry for each edge."""
    return [(pair[down], edge) for edge, way in enumerate(hops) for pair in pairwise(way) if pair[not down] == vertex]


def _nearness(level: list, hops: list, down: bool):
    """Sort key: the mean place of a vertex's neighbours in an adjacent level; ties in the order of
    the edges, so that what belongs to the first input stands left."""

    def key(vertex):
        near = _neighbours(vertex, hops, down)
        places = [(level.index(other) + 0.5) / len(level) for other, _ in near]
        return (sum(places) / len(near), near[0][1]) if near else (0.5, len(hops))

    return key


def _centres(levels: list, hops: list, widths: list) -> dict:
    """Horizontal centre of each vertex: under the middle of those above it, then over the middle of
    those below, as far as the widths allow. The figure's left margin is kept."""
    centres = dict.fromkeys(range(len(widths)), 0.0)
    for down in [False, True, False, True]:
        for level in reversed(levels) if down else levels:
            wanted = []
            for vertex in level:
                near = [centres[other] for other, _ in _neighbours(vertex, hops, down)]
                wanted.append(sum(near) / len(near) if near else centres[vertex])
            placed = spread(wanted, [widths[vertex] for vertex in level], 14)
            centres.update(zip(level, placed))
    left = min(centre - widths[vertex] / 2 for vertex, centre in centres.items())
    return {vertex: centre - left + MARGIN for vertex, centre in centres.items()}


def _tab_width(attribute: str, said: str) -> int:
    return SAVES + code_width(f"{attribute} {said}", 11) + 16


def _card_width(card: Card) -> int:
    """Width of the widest part of a card."""
    if card.kind == LINE:
        return 6
    parts = [code_width(card.name) + (16 if card.kind == "result" else 26)]
    parts += [code_width(note) for note in card.notes]
    parts += [_tab_width(attribute, said) for attribute, _, said in card.saved]
    return max(parts + [code_width(card.leaf) + 16] * bool(card.leaf))


def _card_height(card: Card) -> int:
    """Height of a card; that of a line that passes a level is nothing."""
    if card.kind != "node":
        return BOX if card.kind == "result" else 0
    below = 17 * len(card.notes) + TAB * len(card.saved)
    return PILL + below + (18 + BOX if card.leaf else 0)


def _draw_tensor(centre, top, said: str) -> list:
    """A tensor: a rounded box with its name and shape."""
    width = code_width(said) + 16
    return [
        rect(centre - width / 2, top, width, BOX, "it-element", 6),
        text(centre, top + 17, said, "it-value", "middle"),
    ]


def _draw_card(card: Card, centre, top) -> list:
    """The shapes of one card, from its upper edge down."""
    if card.kind == LINE:
        return []
    if card.kind == "result":
        return _draw_tensor(centre, top, card.name)
    width = code_width(card.name) + 26
    shapes = [
        rect(centre - width / 2, top, width, PILL, "it-pill", PILL / 2),
        text(centre, top + 16, card.name, "it-value", "middle"),
    ]
    y = top + PILL
    for note in card.notes:
        shapes.append(text(centre, y + 13, note, "it-note", "middle"))
        y += 17
    wide = max([_tab_width(a, said) for a, _, said in card.saved], default=0)
    for attribute, kind, said in card.saved:
        left = centre - wide / 2
        shapes.append(rect(left, y + 1, wide, TAB - 1, f"it-tab it-{kind}", 3))
        shapes.append(text(left + 6, y + 14, "saves", "it-index"))
        shapes.append(text(left + 10 + SAVES, y + 14, f"{attribute} {said}", "it-saved"))
        y += TAB
    if card.leaf:
        shapes += [path("M", centre, y, "V", y + 12), arrow_head(centre, y + 18)]
        shapes += _draw_tensor(centre, y + 18, card.leaf)
    return shapes


def _draw(cards: list, levels: list, hops: list, centres: dict) -> tuple:
    """All shapes, width and height. Edges come first, so that cards lie on top of them."""
    tops, bottoms, y = {}, {}, MARGIN
    for level in levels:
        deep = max(_card_height(cards[vertex]) for vertex in level)
        tops.update(dict.fromkeys(level, y))
        bottoms.update(dict.fromkeys(level, y + deep))
        y += deep + GAP
    ends = {}  # (edge, is it the upper end) -> x: edges at one card fan out, in the order of x
    fanned = [vertex for vertex, card in enumerate(cards) if card.kind != LINE]
    for vertex, down in product(fanned, [True, False]):
        near = sorted((centres[other], edge) for other, edge in _neighbours(vertex, hops, down))
        for (_, edge), shift in zip(near, fan(len(near), 16, 96)):
            ends[edge, down] = centres[vertex] + shift
    shapes = []
    for edge, way in enumerate(hops):
        x = ends[edge, True]
        start = tops[way[0]] + _card_height(cards[way[0]])
        steps = ["M", x, start, "V", bottoms[way[0]]]
        for above, below in pairwise(way):
            following = ends[edge, False] if below == way[-1] else centres[below]
            stop = tops[below] - (6 if below == way[-1] else 0)
            steps += s_curve(x, bottoms[above], following, stop)
            x = following
            if below != way[-1]:
                steps += ["V", bottoms[below]]
        shapes += [path(*steps), arrow_head(x, tops[way[-1]])]
    for vertex, card in enumerate(cards):
        shapes += _draw_card(card, centres[vertex], tops[vertex])
    width = max(centre + _card_width(cards[vertex]) / 2 for vertex, centre in centres.items())
    return [group("it-1", *shapes)], width + MARGIN, y - GAP + MARGIN


def _describe(cards: list, edges: list) -> str:
    """What is to be seen, in sentences, for those who do not see it."""
    sentences = [f"Gradients flow from {cards[0].name} down to the leaves."]
    for i, card in enumerate(cards[1:], 1):
        if card.kind == LINE:
            continue
        targets = [f"{cards[b].name} (node {b})" for a, b, _ in edges if a == i]
        arriving = sum(b == i for _, b, _ in edges)
        said = f"Node {i}, {card.name}"
        said += "".join(f", {note}" for note in card.notes)
        said += f", saves {', '.join(f'{a} {t}' for a, _, t in card.saved)}" if card.saved else ""
        said += f", receives the sum of {arriving} gradients" if arriving > 1 else ""
        said += f", passes gradients to {', '.join(targets)}" if targets else ""
        said += f", adds to the grad of {card.leaf}" if card.leaf else ""
        sentences.append(said + ".")
    return " ".join(sentences)
