"""Figures of one call: from Python down to the kernels and back, recorded while both run; and of a compiled function,
what a call that compiles passes, and what every later call passes instead."""

import re

import torch
from torch._C._dynamo.eval_frame import reset_code
from torch._dynamo.eval_frame import _debug_get_cache_entry_list

from inside_torch.drawing.layout import MARGIN
from inside_torch.drawing.svg import arrow, group, text

from .boxes import Box, across, down, grid, laid_out
from .keys import keys_of, registered
from .layers import Calls, Operators, compiled_layers, copied

APART = 50  # between the way down and the way up
SIDE = 52  # room for a way beside the boxes
HIT = ("call", "guards", "cache entry")
GUARD = re.compile(r"\+- [A-Z_]{6,}\b")  # a check; the managers that hold them have names in lower case
SHOWN, FALLS = ("AutogradCPU", "ADInplaceOrView", "CPU"), ["falls through"]


def call_path(f, *inputs: torch.Tensor, title: str) -> str:
    """`f(*inputs)`, one call of torch from Python, as a stack: the function called, the kernels that its last operator
    has for the keys that the call passes, and beside it the way back: the node that was made, and the operators that
    backward runs. Keys that fall through, and the files of the kernels, are in the table alone. Raises TypeError for
    inputs that are no tensors, ValueError for more or less than one call, for a result without a node, and where the
    dispatcher has another order of keys than the figure draws."""
    inputs = copied(inputs)
    with Calls(calls := []):
        y = f(*inputs)
    names = [name for name, _, operators in calls if operators]
    if len(calls) != 1 or not names:
        raise ValueError(f"one call of torch is drawn, and f makes {[name for name, *_ in calls]}")
    if not (isinstance(y, torch.Tensor) and y.grad_fn):
        raise ValueError("f must return a tensor with a node")
    wanted, ones = [one for one in inputs if one.requires_grad], torch.ones_like(y)
    with Operators(backward := []):
        torch.autograd.grad(y, wanted, ones)
    ran = list(dict.fromkeys(str(operator.overloadpacket) for operator in backward))
    way = [("Python", names), *_registered(calls[0][2][-1], wanted[0])]
    back = [("Python", ["backward()"]), ("node", [y.grad_fn.name()]), None, ("operators", ran)]
    rows = [[name, " ".join(said), " ".join(up[1]) if up else ""] for (name, said), up in zip(way, back)]
    desc = "Down: " + "; ".join(f"{name}: {said}" for name, said, _ in rows) + ". "
    desc += "Back: " + "; ".join(f"{one[0]}: {' '.join(one[1])}" for one in back if one) + "."
    columns = ["layer", "on the way down", "on the way back"]
    drawn = [(one, up) for one, up in zip(way, back) if one[1] != FALLS]
    return laid_out(title, desc, columns, rows, _both_ways, drawn)


def _registered(operator, tensor: torch.Tensor) -> list:
    """A box for each key that is drawn: the operator's name and the file of its kernel, or that it falls through."""
    keys = [key for key, excluded in keys_of(tensor) if not excluded and key in SHOWN]
    if keys != [key for key in SHOWN if key in keys] or {"AutogradCPU", "CPU"} - set(keys):
        raise ValueError(f"the figure draws {SHOWN}, and this call has {keys}")
    files, name = registered(operator.name()), str(operator.overloadpacket)
    return [(k, [name, files[k]] if files[k] else FALLS) for k in SHOWN]


def _both_ways(drawn: list, _wide: bool) -> list:
    rows = [
        [Box([name, *_short(said[:1])], "it-pill", name), up and Box([up[0], *_short(up[1])], bold=up[0])]
        for (name, said), up in drawn
    ]
    shapes, at = grid(rows, apart=APART, pad=8)
    node, last = at[1, 1], at[len(rows) - 1, 1]
    makes = text(node.x - APART / 2, node.level - 6, "makes", "it-index", "middle")
    forward = [*down(at[i, 0] for i in range(len(rows))), *across([at[1, 0], node]), makes]
    later = text(node.middle + 8, at[0, 1].low + 17, "later", "it-index")
    return [group("it-1", *forward), group("it-2", *down([at[0, 1], node, last]), later), *shapes]


def _short(names: list) -> list:
    return [name.removeprefix("aten.") for name in names]


def compile_path(f, *inputs: torch.Tensor, title: str) -> str:
    """A compiled function: the first call, a miss, goes from the call through Dynamo, AOTAutograd and Inductor to an
    entry with guards; the second, a hit, from the guards to that entry at once. The boxes hold what was counted while
    Inductor compiled f, and in two calls that show the miss and the hit. Raises TypeError for inputs that are no
    tensors, ValueError where f is compiled more than once or needs a graph without gradients, and where the second call
    compiles again."""
    layers = compiled_layers(f, copied(inputs))
    captured = sum(len(cell) for cell in layers[0][1])
    graphs = [sum(len(cell) for cell in cells) for name, cells in layers if name.startswith("AOT")]
    forward, backward = (cells[0] for name, cells in layers if name == "Inductor")
    reset_code(f.__code__)  # so that the first call finds no entry
    compiled = torch.compile(f, backend=(count := torch._dynamo.testing.CompileCounter()))
    compiled(*inputs)
    entries = _debug_get_cache_entry_list(f.__code__)  # the newest first
    compiled(*inputs)
    if (made := len(entries)) != 1 or count.frame_count != 1:
        raise ValueError(f"one entry and one hit are drawn, not {made} entries and {count.frame_count} compilations")
    guards = len(GUARD.findall(str(entries[0].guard_manager)))
    boxes = [
        ("call", [f"{f.__name__}({', '.join(f.__code__.co_varnames[: f.__code__.co_argcount])})"]),
        ("guards", [f"{guards} checks, at first none"]),
        ("Dynamo", [f"graph of {captured} calls"]),
        ("AOTAutograd", [f"forward: {graphs[0]} operators", f"backward: {graphs[1]} operators"]),
        (
            "Inductor",
            ["kernels", f"forward: {_kernels(forward)}", f"later, back: {_kernels(backward)}"],
        ),
        ("cache entry", ["the guards", "code that calls the kernels"]),
    ]
    rows = [[name, ", ".join(said), "hit and miss" if name in HIT else "miss"] for name, said in boxes]
    rows += [["kernel of the forward", name, "hit and miss"] for name in forward]
    rows += [["kernel of the backward", name, "backward()"] for name in backward]
    desc = "A miss passes all boxes from top to bottom, a hit only the first two and the last. "
    desc += " ".join(f"{name}: {', '.join(said)}." for name, said in boxes)
    return laid_out(title, desc, ["stage", "holds", "passed by"], rows, _stack, boxes)


def _kernels(names: list) -> str:
    """How many functions Inductor wrote, and how many of a library it calls (their names begin with extern_kernels)."""
    called = sum(name.startswith("extern_kernels") for name in names)
    counts = [(len(names) - called, "written"), (called, "called")]
    return ", ".join(f"{count} {what}" for count, what in counts if count)


def _stack(boxes: list, _wide: bool) -> list:
    """A stack of boxes with two ways through it."""
    rows = [[Box([name, *said], "it-pill", name)] for name, said in boxes]
    shapes, at = grid(rows, MARGIN + SIDE, gap=26, pad=8)
    call, guards, *_, entry = at.values()
    start, end, x = guards.level, entry.level, MARGIN + 10
    turn = ("H", x + 8, "Q", x, start, x, start + 8, "V", end - 8, "Q", x, end, x + 8, end)
    hit = [
        *down([call, guards]),
        *arrow(entry.x, end, "right", "M", guards.x, start, *turn),
        text(x + 6, start + 18, "hit", "it-step"),
    ]
    miss = [*down(list(at.values())[1:]), text(guards.middle + 10, guards.low + 17, "miss", "it-step")]
    return [group("it-1", *hit), group("it-2", *miss), *shapes]
