"""The figure of the order in which backward runs the nodes of a graph, recorded while it runs."""

import torch

from .graph import (
    GAP,
    LINE,
    MARGIN,
    PILL,
    Card,
    _card_height,
    _card_width,
    _centres,
    _checked_names,
    _draw,
    _explore,
    _label,
    _levels,
)
from .svg import code_width, element, figure, group, text

ROOM = 5  # characters that the badge with the number takes of a pill


def execution_order(tensor: torch.Tensor, *, names: dict[str, torch.Tensor] | None = None, title: str) -> str:
    """The graph behind `tensor.grad_fn`, each node with a badge that says when backward ran it, how
    many gradients it waits for when more than one, and when forward made it.

    The order is that of a backward that this function runs: hooks record it and are removed, the
    graph is retained, and the gradients of the leaves are put back. `names` maps labels to leaves
    and to the result. Raises TypeError for what is no tensor, ValueError for a tensor without graph,
    a graph of more than 24 nodes or a node that did not run exactly once.
    """
    nodes, edges = _explore(tensor)
    names = _checked_names(names)
    ran = [nodes.index(node) + 1 for node in _recorded(tensor, nodes)]
    if sorted(ran) != list(range(1, len(nodes) + 1)):
        raise ValueError(f"each of {len(nodes)} nodes must run once, these ran: {ran}")
    waits = {i: sum(b == i - 1 for _, b, _ in edges) for i in ran}
    waits[1] = 1  # for the gradient that backward was called with
    made = sorted(node._sequence_nr() for node in nodes if not hasattr(node, "variable"))
    edges = [(0, 1, tensor.output_nr)] + [(a + 1, b + 1, number) for a, b, number in edges]
    cards = [Card("result", _label(tensor, names, "result"))]
    for i, node in enumerate(nodes, 1):
        leaf = hasattr(node, "variable")
        notes = (f"waits for {waits[i]}",) * (waits[i] > 1)
        notes += () if leaf else (f"made {_ordinal(made.index(node._sequence_nr()) + 1)}",)
        name = " " * ROOM + node.name().split("::")[-1]
        cards.append(Card("node", name, notes, (), _label(node.variable, names, "leaf") if leaf else ""))
    levels, hops = _levels(len(cards), edges)
    cards += [Card(LINE, "")] * (sum(map(len, levels)) - len(cards))
    centres = _centres(levels, hops, [_card_width(card) for card in cards])
    body, width, height = _draw(cards, levels, hops, centres)
    columns = ["runs as number", "node", "made as number", "waits for gradients", "passes gradients to number"]
    rows = []
    for number, i in enumerate(ran, 1):
        node = nodes[i - 1]
        before = "" if hasattr(node, "variable") else made.index(node._sequence_nr()) + 1
        following = ", ".join(str(ran.index(b) + 1) for a, b, _ in edges if a == i)
        rows.append([number, node.name().split("::")[-1], before, waits[i], following])
    return figure(
        [*body, group("it-1", *_badges(cards, levels, centres, ran))],
        width,
        height,
        title=title,
        desc=_describe(rows, [cards[i].leaf for i in ran]),
        columns=columns,
        rows=rows,
    )


def _recorded(tensor: torch.Tensor, nodes: list) -> list:
    """The nodes in the order in which a backward ran them."""
    ran = []
    leaves = [node.variable for node in nodes if hasattr(node, "variable")]
    before = [leaf.grad for leaf in leaves]
    handles = [node.register_prehook(lambda _, node=node: ran.append(node)) for node in nodes]
    try:
        for leaf in leaves:
            leaf.grad = None
        tensor.backward(torch.ones_like(tensor), retain_graph=True)
    finally:
        for handle in handles:
            handle.remove()
        for leaf, grad in zip(leaves, before):
            leaf.grad = grad
    return ran


def _ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th; a graph that is drawn has no more than 24 nodes."""
    ends = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd"}
    return f"{number}{ends.get(number, 'th')}"


def _badges(cards: list, levels: list, centres: dict, ran: list) -> list:
    """A disc with its number at the left end of each pill."""
    shapes, y = [], MARGIN
    for level in levels:
        for vertex in level:
            if vertex in ran:
                wide = code_width(cards[vertex].name) + 26
                x = centres[vertex] - wide / 2 + PILL / 2 + 2
                shapes.append(element("circle", class_="it-element", cx=x, cy=y + PILL / 2, r=9))
                shapes.append(text(x, y + 16, str(ran.index(vertex) + 1), "it-step", "middle"))
        y += max(_card_height(cards[vertex]) for vertex in level) + GAP
    return shapes


def _describe(rows: list, leaves: list) -> str:
    """What is to be seen, in sentences, for those who do not see it."""
    sentences = ["Each node carries the number at which backward ran it."]
    for (number, name, made, waits, following), leaf in zip(rows, leaves):
        said = f"{number}: {name}"
        said += f", made as number {made}" if made else f", adds to the grad of {leaf}"
        said += f", waits for {waits} gradients" if waits > 1 else ""
        said += f", passes gradients to {following}" if following else ""
        sentences.append(said + ".")
    return " ".join(sentences)
