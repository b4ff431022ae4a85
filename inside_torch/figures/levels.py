"""Figures of levels: one call inside function transforms, through each level down to the kernels and back up; and
one line through the function level, autograd and the dispatch level. Both are recorded while they run."""

from itertools import pairwise
from textwrap import wrap

import torch
from torch._C import _functorch
from torch._C._functorch import TransformType, get_unwrapped, maybe_get_level

from inside_torch.drawing.checks import checked
from inside_torch.drawing.layout import MARGIN, NARROW, ROOM, widest
from inside_torch.drawing.svg import arrow, arrow_down, group, rect, text

from .boxes import LINE, Box, Place, across, column, grid, laid_out
from .graph import explore, short_name
from .layers import Calls, Functions, Operators

HEADS = ("function level", "autograd", "dispatch level")
PASSES = ("forward pass", "backward pass")
WRAPPERS = {TransformType.Vmap: "BatchedTensor", TransformType.Grad: "GradTrackingTensor"}


def _operator(func, args: tuple) -> str:
    """An operator with the shapes that it gets."""
    return " ".join([str(func.overloadpacket), *(_shape(one) for one in args if torch.is_tensor(one))])


def call_levels(transform, f, inputs: dict[str, torch.Tensor], *, title: str) -> str:
    """`transform(f)(*inputs)`, where f makes one call of torch, as a stack: f, the level of each transform, the highest
    first, and the operators that reach the kernels. Left of the middle the arguments go down, with the wrapper and the
    shape that they have there; right of it the result comes up.

    `transform` is made of vmap and of grad. Raises TypeError for inputs that are no tensors, ValueError where no
    transform or another one runs, for more or less than one call, for a call without a node or without a batching rule
    of its own, and for words that do not fit."""
    inputs = {name: checked(one, torch.Tensor, "each of the inputs") for name, one in inputs.items()}
    levels, ways = [], []

    def watched(*args):
        with Functions(calls := []), Operators(below := [], _operator):
            y = f(*args)
        if len(calls) != 1:
            raise ValueError(f"one call of torch is drawn, and f makes {calls}")
        levels.append(("f", [f"torch.{calls[0]}({', '.join(inputs)})"]))
        _unwrap(calls[0], dict(zip(inputs, args)), y, levels, ways)
        levels.append(("kernels", below))
        return y.sum()

    transform(watched)(*inputs.values())
    told = [["", ""], *(_told(way, True) for way in ways)]
    rows = [[name, "; ".join(said), ", ".join(way[:-1]), way[-1]] for (name, said), way in zip(levels, told)]
    desc = "From top to bottom: " + " ".join(
        f"{name}: {said}{f', called with {down}, returns {up}' if down else ''}." for name, said, down, up in rows
    )
    heads = ["level", "does", "is called with", "returns"]
    return laid_out(title, desc, heads, rows, _between, levels, ways)


def _unwrap(call: str, args: dict, y: torch.Tensor, levels: list, ways: list) -> None:
    """Adds what each level does, and what goes down to it and comes up from it: (name, wrapper, shape) of each."""
    interpreters = _functorch.get_interpreter_stack()
    if not interpreters or any(one.key() not in WRAPPERS for one in interpreters):
        raise ValueError("only levels of vmap and of grad are drawn")
    for one in reversed(interpreters):
        level, wrapper = one.level(), WRAPPERS[one.key()]
        ways.append(_way(args, y))
        said = [f"unwraps {wrapper}"]
        if one.key() == TransformType.Grad:
            if not y.grad_fn:
                raise ValueError(f"level {level} left no node")
            said.append(f"leaves {y.grad_fn.name()}")
        else:
            if not _has_batching_rule(call, args):
                raise ValueError(f"aten::{call} has no batching rule of its own")
            said.append(f"runs the batching rule of {call}")
        levels.append((f"level {level}: {one.key().name.lower()}", said))
        args = {name: get_unwrapped(arg) if maybe_get_level(arg) == level else arg for name, arg in args.items()}
        y = get_unwrapped(y) if maybe_get_level(y) == level else y
    ways.append(_way(args, y))


def _has_batching_rule(call: str, args: dict) -> bool:
    """Whether the overload of the operator that takes these arguments has one: of `mul` it is `mul.Tensor`."""
    overload = torch._C._jit_resolve_packet(f"aten::{call}", *args.values())
    operator = getattr(getattr(torch.ops.aten, call), overload)
    return torch._C._dispatch_has_kernel_for_dispatch_key(operator.name(), "FuncTorchBatched")


def _way(args: dict, y: torch.Tensor) -> list:
    """What goes down, and last what comes up, as (name, wrapper, shape)."""
    return [(name, *_kind(one)) for name, one in {**args, "": y}.items()]


def _kind(tensor: torch.Tensor) -> tuple:
    """The name of the wrapper that a tensor is, if it is one, and its shape as the code at this level sees it."""
    name = "BatchedTensor" if _functorch.is_batchedtensor(tensor) else "Tensor"
    return "GradTrackingTensor" if _functorch.is_gradtrackingtensor(tensor) else name, _shape(tensor)


def _shape(tensor: torch.Tensor) -> str:
    return str(tuple(tensor.shape))


def _told(way: list, wide: bool) -> list:
    """The arguments and the result as texts; without the wrappers where there is no room for them."""
    return [" ".join(filter(None, (name, wrapper if wide else "", shape))) for name, wrapper, shape in way]


def _between(levels: list, ways: list, wide: bool) -> list:
    """The levels one below the other, and on the arrows between them what goes down and what comes up."""
    down, up = [_told(way[:-1], wide) for way in ways], [_told(way[-1:], wide)[0] for way in ways]
    rows, gap = [[Box([name, *said], bold=name)] for name, said in levels], LINE * max(map(len, down)) + 24
    left = widest(one for args in down for one in args) + 32 - widest(one for (box,) in rows for one in box.lines) / 2
    shapes, places = grid(rows, MARGIN + max(0, left), gap=gap, pad=24)
    for (above, below), args, result in zip(pairwise(places.values()), down, up):
        x, low, middle = above.middle, above.low, (above.low + below.y) / 2 + 4
        shapes.append(group("it-1", *arrow_down(x - 20, low, below.y)))
        shapes.append(group("it-2", *arrow(x + 20, low, "up", "M", x + 20, below.y)))
        for i, one in enumerate(args):
            shapes.append(text(x - 30, middle + LINE * (i - (len(args) - 1) / 2), one, "it-value", "end"))
        shapes.append(text(x + 30, middle, result, "it-value"))
    return shapes


def both_levels(f, *inputs: torch.Tensor, title: str, heads: tuple = HEADS, backward=True) -> str:
    """`f(*inputs)` and the backward of its result as rows of three columns: the function that Python calls, the nodes
    that the call makes or runs, the operators that get below autograd. In the rows of backward, one for each node in
    the order of the run, the operators are those that the node calls. Gradients are left where `backward()` leaves
    them. With `backward=False` it does not run, and has no rows. Raises TypeError for inputs that are no tensors,
    ValueError for a result that is not one number with a node, and for words that do not fit."""
    for one in inputs:
        checked(one, torch.Tensor, "each of the inputs")
    with Calls(calls := []):
        y = f(*inputs)
    if not (calls and isinstance(y, torch.Tensor) and y.numel() == 1 and y.grad_fn):
        raise ValueError("f must return one number that has a node")
    forward = [(name, [short_name(node) for node in nodes], _names(operators)) for name, nodes, operators in calls]
    back = _backward(y) if backward else []
    made, ran = (sum(len(row[i]) for row in rows) for i, rows in ((1, forward), (2, forward + back)))
    nodes = f"makes {made} nodes" + (f", runs {len(back) - 1}" if back else "")
    counts = [f"{len(forward) + len(back[:1])} calls", nodes, f"{ran} calls"]
    rows = [["forward", name, " ".join(nodes), " ".join(operators)] for name, nodes, operators in forward]
    rows += [["backward", name, " ".join(nodes), " ".join(operators)] for name, nodes, operators in back]
    desc = " ".join(f"{head}: {count}." for head, count in zip(heads, counts)) + " A row for each call of forward"
    desc += ", then one for each node of backward, with what it calls: " if back else ": "
    desc += "; ".join(" - ".join(filter(None, row[1:])) for row in rows) + "."
    return laid_out(title, desc, ["pass", *heads], rows, _draw, forward, back, heads, counts)


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


def _draw(forward: list, back: list, heads: tuple, counts: list, wide: bool) -> list:
    """A row of boxes for each call of forward; one box for backward, a row for each node."""
    if not wide:
        return _narrow(forward, back, heads, counts)
    rows = [[Box([name]), *_boxes(nodes, operators)] for name, nodes, operators in forward]
    rows += [[None, *_boxes(nodes, operators)] for _, nodes, operators in back if nodes or operators]
    gaps = [30 if i == len(forward) else 8 for i in range(1, len(rows) + 1)]
    shapes, places = grid(rows, MARGIN, MARGIN + 62, 26, gaps, 16, ROOM)
    tops, first = [places[0, 0].y], None
    if back:
        later = [place for (i, _), place in places.items() if i >= len(forward)]
        first = places[0, 0]._replace(y=later[0].y, height=later[-1].low - later[0].y)
        shapes += Box([back[0][0]]).drawn(first)
        tops.append(first.y)
    for i in range(len(rows)):
        row = [places[i, j] for j in range(3) if (i, j) in places]
        shapes.append(group("it-1", *across(row)) if i < len(forward) else group("it-2", *across([first, *row])))
    columns = {j: place.middle for (_, j), place in places.items()}
    for x, head, count in zip((columns[j] for j in range(3)), heads, counts):
        shapes += [text(x, MARGIN + 13, head, "it-name", "middle"), text(x, MARGIN + 30, count, "it-note", "middle")]
    for i, y in enumerate(tops, 1):
        shapes.append(group(f"it-{i}", text(MARGIN, y - 7, PASSES[i - 1], "it-step")))
    return shapes


def _boxes(nodes: list, operators: list) -> list:
    """The boxes of the last two columns."""
    both = Box(nodes, radius=11), Box(_listed(operators))
    return [box if box.lines else None for box in both]


def _listed(operators: list) -> list:
    """Operators as lines that fit a column, and a phone."""
    return wrap(", ".join(operators), 38, break_long_words=False)


def _narrow(forward: list, back: list, heads: tuple, counts: list) -> list:
    """The same for a phone: a box for each call, and in that of backward one for each node."""
    shapes = [text(MARGIN, MARGIN + 13 + 18 * i, f"{heads[i]}: {counts[i]}", "it-value") for i in range(3)]
    rows = [(name, [f"node {node}" for node in nodes], _listed(operators)) for name, nodes, operators in forward + back]
    calls = [[Box([name, *nodes, *said], bold=name, anchor="start")] for name, nodes, said in rows[: len(forward)]]
    drawn, places = column(calls, top := MARGIN + 86, gap=8)
    if not back:
        return [*shapes, text(MARGIN, top - 7, PASSES[0], "it-note"), *drawn]
    y = places[len(calls) - 1, 0].low + 30
    inner = [[Box([*nodes, *said], anchor="start")] for _, nodes, said in rows[len(forward) :] if nodes or said]
    within, inside = grid(inner, MARGIN + 6, y + 24, gap=6, room=NARROW - 12)
    frame = Place(MARGIN, y, NARROW, inside[len(inner) - 1, 0].low + 6 - y)
    shapes += [text(MARGIN, at - 7, said, "it-note") for at, said in zip((top, y), PASSES)]
    shapes += [*drawn, rect(*frame, "it-pill", 4), text(MARGIN + 8, y + 16, back[0][0], "it-name"), *within]
    return shapes
