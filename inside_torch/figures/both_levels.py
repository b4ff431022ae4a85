"""The figure of one line through both levels: the functions that Python calls, the nodes of autograd between, and the
operators that get below it, forward and backward, recorded while they run."""

from textwrap import wrap

import torch

from .checks import checked
from .drawing import arrow, figure, group, lines_box, rect, text
from .graph import explore, short_name
from .layers import Calls, Operators
from .layout import MARGIN, NARROW, ROOM, code_width

LINE, TEXT, GAP, APART = 15, 13, 8, 26  # between lines of text, its size, between rows, between columns
HEADS = ("function level", "autograd", "dispatch level")
PASSES = ("forward pass", "backward pass")


def both_levels(f, *inputs: torch.Tensor, title: str) -> str:
    """`f(*inputs)` and the backward of its result as rows of three columns: the function that Python calls, the nodes
    that the call makes or runs, the operators that get below autograd. In the rows of backward, one for each node in
    the order of the run, the operators are those that the node calls. Gradients are left where `backward()` leaves
    them. Raises TypeError for inputs that are no tensors, ValueError for a result that is not one number with a node,
    and for words that do not fit."""
    for one in inputs:
        checked(one, torch.Tensor, "each of the inputs")
    with Calls(calls := []):
        y = f(*inputs)
    if not (isinstance(y, torch.Tensor) and y.numel() == 1 and y.grad_fn):
        raise ValueError("f must return one number that has a node")
    forward = [(name, [short_name(node) for node in nodes], _names(operators)) for name, nodes, operators in calls]
    back = _backward(y)
    made, ran = (sum(len(row[i]) for row in rows) for i, rows in ((1, forward), (2, forward + back)))
    counts = [f"{len(forward) + 1} calls", f"makes {made} nodes, runs {len(back) - 1}", f"{ran} operators"]
    rows = [["forward", name, " ".join(nodes), " ".join(operators)] for name, nodes, operators in forward]
    rows += [["backward", name, " ".join(nodes), " ".join(operators)] for name, nodes, operators in back]
    desc = " ".join(f"{head}: {count}." for head, count in zip(HEADS, counts))
    desc += " A row for each call of forward, then one for each node of backward, with what it calls: "
    desc += "; ".join(" - ".join(filter(None, row[1:])) for row in rows) + "."
    drawn = _draw(forward, back, counts), _draw_narrow(forward, back, counts)
    if drawn[0][1] > ROOM + 2 * MARGIN or drawn[1][1] > NARROW + 2 * MARGIN:
        raise ValueError(f"the line is too wide: {ROOM} can be drawn, on a phone {NARROW}")
    return figure(*drawn[0], title, desc, ["pass", *HEADS], rows, drawn[1])


def _backward(y: torch.Tensor) -> list:
    """A row for `backward` itself and one for each node that runs: (function, [node], its operators)."""
    operators, starts, handles = [], [], []
    for node in explore(y)[0]:
        handles.append(node.register_prehook(lambda _, node=node: starts.append((short_name(node), len(operators)))))
    with Operators(operators), Calls(called := []):
        y.backward()
    for handle in handles:
        handle.remove()
    if [name for name, *_ in called] != ["backward"]:
        raise ValueError(f"one call of backward is drawn, and Python called {[name for name, *_ in called]}")
    ends = [start for _, start in starts[1:]] + [len(operators)]
    rows = [("backward", [], _names(operators[: starts[0][1]]))]
    return rows + [("", [name], _names(operators[start:end])) for (name, start), end in zip(starts, ends)]


def _names(operators: list) -> list:
    return [operator.overloadpacket.__name__ for operator in operators]


def _draw(forward: list, back: list, counts: list) -> tuple:
    """Shapes, width and height: a row of boxes for each call of forward; one box for backward, a row for each node."""
    first = max(code_width(name, TEXT) for name, *_ in forward + back) + 24
    second = max(code_width(name, TEXT) for _, nodes, _ in forward + back for name in nodes) + 16
    lefts = [MARGIN, MARGIN + first + APART, MARGIN + first + second + 2 * APART]
    third = max(code_width(name, TEXT) for *_, operators in forward + back for name in operators) + 16
    widths = [first, second, max(third, ROOM + MARGIN - lefts[2])]
    rights = [left + width for left, width in zip(lefts, widths)]
    shapes, y, whole = [], MARGIN + 62, 0
    shapes.append(group("it-1", text(MARGIN, y - 7, PASSES[0], "it-step")))
    for head, count, left, width in zip(HEADS, counts, lefts, widths):
        shapes.append(text(left + width / 2, MARGIN + 13, head, "it-name", "middle"))
        shapes.append(text(left + width / 2, MARGIN + 30, count, "it-note", "middle"))
    for i, (name, nodes, operators) in enumerate(forward + back):
        if i == len(forward):
            y += 30
            whole = y
            shapes.append(group("it-2", text(MARGIN, y - 7, PASSES[1], "it-step")))
        lines = _lines(operators, (widths[2] - 12) * 100 // code_width("-" * 100, TEXT))
        height = LINE * max(len(lines), len(nodes), 1) + 9
        middle, tone = y + height / 2, "it-2" if whole else "it-1"
        if not whole:
            shapes += lines_box(lefts[0], y, widths[0], height, [name], LINE, 4)
        if nodes:
            shapes += lines_box(lefts[1], y, widths[1], height, nodes, LINE, height / 2.4)
            shapes.append(group(tone, *arrow(lefts[1], middle, "right", "M", rights[0] + 1, middle)))
        if lines:
            start = rights[1 if nodes else 0] + 1
            shapes += lines_box(lefts[2], y, widths[2], height, lines, LINE, 4)
            shapes.append(group(tone, *arrow(lefts[2], middle, "right", "M", start, middle)))
        y += height + GAP
    shapes += lines_box(lefts[0], whole, first, y - GAP - whole, [back[0][0]], LINE, 4)
    return [group("it-large", *shapes)], rights[2] + MARGIN, y - GAP + MARGIN


def _draw_narrow(forward: list, back: list, counts: list) -> tuple:
    """The same for a phone: a box for each call, in it the nodes that it makes, then its operators; below the box of
    backward a box for each node that runs, with the operators that it calls. The counts at the top are in the style
    of what they count."""
    shapes = [_said(MARGIN, MARGIN + 13 + 17 * k, f"{HEADS[k]}: {counts[k]}", k) for k in range(3)]
    y = MARGIN + 17 * 3 + GAP
    for i, (name, nodes, operators) in enumerate(forward + back):
        if i in (0, len(forward)):
            shapes.append(text(MARGIN, y + 15, PASSES[i > 0], "it-note"))
            y += 22
        inset = 0 if name else 16
        made, ran = _lines(nodes if name else [], 34), _lines(operators, 34)
        height = 24 + LINE * (len(made) + len(ran))
        shapes.append(rect(MARGIN + inset, y, NARROW - inset, height, "it-pill", 4 if name else 11))
        shapes.append(_said(MARGIN + inset + 8, y + 17, name or nodes[0], 0 if name else 1))
        for k, line in enumerate(made + ran):
            shapes.append(_said(MARGIN + inset + 22, y + 32 + LINE * k, line, 1 if k < len(made) else 2))
        y += height + GAP
    longest = max(code_width(name, TEXT) for row in forward + back for names in row[1:] for name in names)
    return [group("it-large", *shapes)], max(NARROW, longest + 46) + 2 * MARGIN, y - GAP + MARGIN


def _said(x, y, line: str, column: int) -> str:
    """A line of text on a phone, in the style of its column."""
    said = text(x, y, line, ("it-name", "it-step", "it-value")[column])
    return group("it-1", said) if column == 1 else said


def _lines(names: list, room: int) -> list:
    return wrap(" ".join(names), room, break_long_words=False)
