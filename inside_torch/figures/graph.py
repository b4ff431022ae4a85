"""The figure of a backward graph, read from the nodes that hang on a tensor's grad_fn."""

from typing import NamedTuple

import torch

from inside_torch.drawing.checks import checked, checked_dict
from inside_torch.drawing.layout import PHONE, code_width, layered
from inside_torch.drawing.svg import arrow_down, arrow_head, box, figure, group, path, rect, text

MOST_NODES = 24  # more do not fit a page
PILL, BOX, TAB = 24, 26, 19  # heights of a node, of a tensor, of a thing saved
SAVES = 31  # width of the word saves on a tab
PLAIN = bool | int | float | complex | str | None | torch.dtype | torch.device | torch.layout | torch.memory_format


class Card(NamedTuple):
    """A vertex as it is drawn: a node's name over what it saves and the leaf it adds to, or a tensor alone."""

    name: str = ""
    notes: tuple = ()  # lines of text below the name
    saved: tuple = ()  # of (attribute, "tensor" or "value", text)
    tensor: str = ""  # name and shape of the result, or of the tensor that an AccumulateGrad node adds to

    @property
    def shown(self) -> list:
        """What is saved, without the sizes and strides of tensors that are saved themselves."""
        whole = {attribute for attribute, kind, _ in self.saved if kind == "tensor"}
        return [entry for entry in self.saved if entry[0].split("_sym_")[0] not in whole - {entry[0]}]

    def drawn(self, centre, top, pad) -> tuple:
        """The shapes from the upper edge down, their width, and their lower edge; `pad` px around a name."""
        shapes, widths, y = [], [code_width(note) for note in self.notes], top
        if self.name:
            widths.append(code_width(self.name) + pad)
            shapes += box(centre, y, widths[-1], PILL, self.name, "it-pill", PILL / 2)
            y += PILL
        for note in self.notes:
            shapes.append(text(centre, y + 13, note, "it-note", "middle"))
            y += 17
        widths.append(max([code_width(f"{name} {said}", 11) + SAVES + 16 for name, _, said in self.shown], default=0))
        left = centre - widths[-1] / 2
        for attribute, kind, said in self.shown:
            shapes.append(rect(left, y + 1, widths[-1], TAB - 1, f"it-tab it-{kind}", 3))
            shapes.append(text(left + 6, y + 14, "saves", "it-index"))
            shapes.append(text(left + SAVES + 10, y + 14, f"{attribute} {said}", "it-saved"))
            y += TAB
        if self.name and self.tensor:
            shapes += arrow_down(centre, y, y + 18)
            y += 18
        if self.tensor:
            widths.append(code_width(self.tensor) + pad / 2 + 3)
            shapes += box(centre, y, widths[-1], BOX, self.tensor, "it-element", 6)
            y += BOX
        return shapes, max(widths), y


def backward_graph(
    tensor: torch.Tensor, *, names: dict[str, torch.Tensor] | None = None, title: str, saves=True, values=True
) -> str:
    """The graph behind `tensor.grad_fn`: the result on top, gradients flow down to the leaves. A node is a pill with
    its name, what it saves hangs from it as tabs unless `saves` is False, a leaf is drawn as a tensor. `names` maps
    labels to tensors: the result, leaves, tensors between, or anything saved. Left out are saved attributes that are
    None, the sizes and strides of what is itself saved, and with `values=False` all but tensors. Raises TypeError for
    what is no tensor, ValueError for a tensor without graph, a graph of more than 24 nodes, saved tensors that are
    freed, and a name that nothing in the graph answers to."""
    nodes, edges = explore(tensor)
    names = checked_names(names)
    cards, rows = [Card(tensor=shaped(tensor, names, "result"))], []
    desc = f"Gradients flow from {cards[0].tensor} down to the leaves."
    for i, node in enumerate(nodes, 1):
        made = tuple(f"grad_fn of {n}" for n, named in names.items() if named is not tensor and named.grad_fn is node)
        leaf = shaped(node.variable, names, "leaf") if hasattr(node, "variable") else ""
        kept = tuple(entry for entry in _saved(node, names) if saves and (values or entry[1] == "tensor"))
        card = Card(short_name(node), made, kept, leaf)
        targets, arriving = [b for a, b in edges if a == i], sum(b == i for _, b in edges)
        desc += " " + ", ".join([f"Node {i}", card.name, *made])
        desc += f", saves {', '.join(f'{a} {t}' for a, _, t in card.shown)}" if card.shown else ""
        desc += f", receives the sum of {arriving} gradients" if arriving > 1 else ""
        told = [f"{short_name(nodes[b - 1])} (node {b})" for b in targets]
        desc += f", passes gradients to {', '.join(told)}" if targets else ""
        desc += f", adds to the grad of {leaf}." if leaf else "."
        saved = ", ".join(f"{attribute} {said}" for attribute, _, said in card.saved)
        rows.append([i, node.name(), saved, leaf, ", ".join(map(str, targets))])
        cards.append(card)
    saved = " ".join(row[2] for row in rows)
    for label, named in names.items():
        known = named is tensor or named.grad_fn in nodes or f" = {label} (" in saved
        if not known and all(getattr(node, "variable", None) is not named for node in nodes):
            raise ValueError(f"the graph reaches no tensor {label!r}")
    columns = ["node", "name", "saves", "leaf", "passes gradients to node"]
    wide = _drawn(cards, edges, pad=26, beside=14)
    narrow = _drawn(cards, edges, pad=8, beside=5) if wide[1] > PHONE else ()
    return figure(*wide, title, desc, columns, rows, narrow)


def _drawn(cards: list, edges: list, pad, beside) -> tuple:
    """The cards, levels from top to bottom and `beside` px apart in a level, and the edges: shapes, width, height."""
    sizes = [card.drawn(0, 0, pad)[1:] for card in cards]
    places, ways, width, height = layered(sizes, edges, 40, beside)
    shapes = [s for (_, to), way in zip(edges, ways) for s in (path(*way), arrow_head(way[-2], places[to][1]))]
    for vertex, card in enumerate(cards):  # above the arrows
        shapes += card.drawn(*places[vertex], pad)[0]
    return [group("it-1", *shapes)], width, height


def checked_names(names) -> dict:
    """The names as given, {} for None. Raises for what is no dict of label to different tensors."""
    names = checked_dict({} if names is None else names, torch.Tensor, "names")
    if len({id(named) for named in names.values()}) < len(names):
        raise ValueError(f"two names for one tensor: {list(names)}")
    return names


def explore(tensor: torch.Tensor) -> tuple:
    """Nodes reachable from a tensor's grad_fn, breadth first, and edges (from, to) in the order of next_functions,
    where 0 is the tensor and i the node i - 1. The list keeps the nodes alive, so that one met twice is the same Python
    object. Raises TypeError for what is no tensor, ValueError for one without graph and a graph of too many nodes."""
    if checked(tensor, torch.Tensor, "tensor").grad_fn is None:
        raise ValueError("the tensor has no grad_fn: no operation made it from a leaf")
    nodes, edges = [tensor.grad_fn], [(0, 1)]
    for i, node in enumerate(nodes, 1):
        for following, _ in node.next_functions:
            if following is not None:  # an input that asks for no gradient
                if following not in nodes:
                    nodes.append(following)
                edges.append((i, nodes.index(following) + 1))
        if len(nodes) > MOST_NODES:
            raise ValueError(f"the graph has more than {MOST_NODES} nodes: draw a part of it")
    return nodes, edges


def shaped(tensor: torch.Tensor, names: dict, otherwise: str) -> str:
    """Name and shape of a tensor drawn as such."""
    known = [name for name, named in names.items() if named is tensor]
    return f"{(known or [otherwise])[0]} {tuple(tensor.shape)}"


def short_name(node) -> str:
    """A node's name without the namespace of C++."""
    return node.name().split("::")[-1]


def _saved(node, names: dict):
    """What a node keeps for its backward: (attribute, "tensor" or "value", text), sorted by name. Generated nodes have
    attributes `_saved_NAME`, a torch.autograd.Function has `saved_tensors`. Raises ValueError for what was freed."""
    own = isinstance(node, torch.autograd.function.BackwardCFunction)
    attributes = [name for name in dir(node) if name.startswith("_saved_")] + ["saved_tensors"] * own
    for attribute in sorted(attributes):
        short = attribute.removeprefix("_saved_")
        try:
            value = getattr(node, attribute)
        except RuntimeError as error:
            raise ValueError(f"{node.name()} can't show {short!r}: {error}") from error
        several = isinstance(value, tuple | list) and any(isinstance(item, torch.Tensor) for item in value)
        for name, item in [(f"{short}[{i}]", v) for i, v in enumerate(value)] if several else [(short, value)]:
            if isinstance(item, torch.Tensor):
                known = [f"= {label} " for label, named in names.items() if _same_memory(item, named)]
                yield name, "tensor", f"{''.join(known[:1])}{tuple(item.shape)}"
            elif item is not None:
                yield name, "value", _plain(item, f"{node.name()}.{attribute}")


def _plain(value, where: str) -> str:
    """A saved value as text: the same in every process, so nothing that may print an address."""
    if isinstance(value, tuple | list):
        inner = ", ".join(_plain(item, where) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if not isinstance(value, PLAIN):
        raise ValueError(f"{where} is a {type(value).__name__}, and no way is known to draw it")
    return f"{value:g}" if isinstance(value, float) else str(value)


def _same_memory(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors are one in memory: unpacking what a node saved makes a new object."""
    alike = a.layout == b.layout == torch.strided and (a.dtype, a.device) == (b.dtype, b.device)
    return a.detach().is_set_to(b.detach()) if alike else a is b
