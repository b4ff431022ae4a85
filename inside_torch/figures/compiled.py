"""The figure of a compiled function: what a call that compiles passes, and what every later call passes instead."""

import re

import torch
from torch._dynamo.eval_frame import _debug_get_cache_entry_list

from .drawing import arrow_head, figure, group, path, text
from .layers import compiled_layers, copied
from .layout import MARGIN, stages

SIDE = 52  # room for a way beside the boxes
HIT = ("frame", "guards", "compiled code")
GUARD = re.compile(r"\+- [A-Z_]{6,}\b")  # a check; the managers that hold them have names in lower case


def compile_path(f, *inputs: torch.Tensor, title: str) -> str:
    """A compiled function: the first call, a miss, goes from the frame through Dynamo, AOTAutograd and Inductor to an
    entry with guards; the second, a hit, from the guards to the code at once. The boxes hold what was counted while
    Inductor compiled f, and in two calls that show the miss and the hit. Raises TypeError for inputs that are no
    tensors, ValueError where f is compiled more than once or needs a graph without gradients, and where the second call
    compiles again."""
    layers = compiled_layers(f, copied(inputs))
    captured = sum(len(cell) for cell in layers[0][1])
    graphs = [sum(len(cell) for cell in cells) for name, cells in layers if name.startswith("AOT")]
    forward, backward = (cells[0] for name, cells in layers if name == "Inductor")
    before = len(_debug_get_cache_entry_list(f.__code__))
    compiled = torch.compile(f, backend=(count := torch._dynamo.testing.CompileCounter()))
    compiled(*inputs)
    entries = _debug_get_cache_entry_list(f.__code__)  # the newest first
    compiled(*inputs)
    if (made := len(entries) - before) != 1 or count.frame_count != 1:
        raise ValueError(f"one entry and one hit are drawn, not {made} entries and {count.frame_count} compilations")
    guards = len(GUARD.findall(str(entries[0].guard_manager)))
    boxes = [
        ("frame", [f"{f.__name__}{f.__code__.co_varnames[: f.__code__.co_argcount]}".replace("'", "")]),
        ("guards", [f"{guards} checks"]),
        ("Dynamo", [f"graph of {captured} calls"]),
        ("AOTAutograd", [f"forward: {graphs[0]} operators", f"backward: {graphs[1]} operators"]),
        ("Inductor", [f"kernels: {len(forward)} forward, {len(backward)} back"]),
        ("cache entry", ["guards and new bytecode"]),
        ("compiled code", ["calls the kernels"]),
    ]
    rows = [[name, ", ".join(said), "hit and miss" if name in HIT else "miss"] for name, said in boxes]
    rows += [["kernel of the forward", name, "hit and miss"] for name in forward]
    rows += [["kernel of the backward", name, "hit and miss"] for name in backward]
    desc = "A miss passes all boxes from top to bottom, a hit only the first two and the last. "
    desc += " ".join(f"{name}: {', '.join(said)}." for name, said in boxes)
    return figure(*_draw(boxes), title, desc, ["stage", "holds", "passed by"], rows)


def _draw(boxes: list) -> tuple:
    """A stack of boxes with two ways through it."""
    rows = [[(name, said, "it-pill" if name == "frame" else "it-pill it-dashed")] for name, said in boxes]
    shapes, miss, ((left, right),), edges = stages(rows, MARGIN + SIDE, 0, gap=26, pad=22)
    start, end, x = sum(edges[1]) / 2, sum(edges[-1]) / 2, MARGIN + 10
    turn = ("H", x + 8, "Q", x, start, x, start + 8, "V", end - 8, "Q", x, end, x + 8, end, "H", left - 7)
    hit = [path("M", left, start, *turn), arrow_head(left, end, "right")]
    hit.append(text(x + 6, start + 18, "hit", "it-step"))
    miss.append(text((left + right) / 2 + 10, edges[1][1] + 17, "miss", "it-step"))
    return [group("it-1", *hit), group("it-2", *miss), *shapes], right + MARGIN, edges[-1][1] + MARGIN
