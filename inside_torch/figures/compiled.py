"""The figure of a compiled function: what a call that compiles passes, and what every later call passes instead."""

import re
from itertools import pairwise

import torch
from torch._dynamo.eval_frame import _debug_get_cache_entry_list

from .checks import checked
from .drawing import arrow_down, arrow_head, figure, group, path, stage, text
from .layers import _compiled
from .layout import MARGIN, code_width

LINE, GAP = 15, 26  # from one line of text in a box to the next, between two boxes
SIDE = 52  # room for a way beside the boxes
HIT = ("frame", "guards", "compiled code")
GUARD = re.compile(r"\+- [A-Z_]{6,}\b")  # a check; the managers that hold them have names in lower case


def compile_path(f, *inputs: torch.Tensor, title: str) -> str:
    """A compiled function: the first call, a miss, goes from the frame through Dynamo, AOTAutograd and Inductor to an
    entry with guards; the second, a hit, from the guards to the code at once. The boxes hold what was counted while
    Inductor compiled f, and in two calls that show the miss and the hit.

    Raises TypeError for inputs that are no tensors, ValueError where f is compiled more than once or needs a graph
    without gradients, and where the second call compiles again."""
    inputs = [checked(one, torch.Tensor, "each of the inputs") for one in inputs]
    layers = _compiled(f, [one.detach().clone().requires_grad_(one.requires_grad) for one in inputs])
    captured = sum(len(cell) for cell in layers[0][1])
    graphs = [sum(len(cell) for cell in cells) for name, cells in layers if name.startswith("AOT")]
    forward, backward = (cells[0] for name, cells in layers if name == "Inductor")
    kernels = {"forward": forward, "backward": backward}
    compiled, before = torch.compile(f, backend=(count := torch._dynamo.testing.CompileCounter())), _entries(f)
    compiled(*inputs)
    entries, calls = _entries(f)[: len(_entries(f)) - len(before)], count.frame_count
    compiled(*inputs)
    if len(entries) != 1 or calls != 1 or count.frame_count != 1:
        raise ValueError(f"one entry and one hit are drawn, and this made {len(entries)} and compiled {calls} times")
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
    rows += [[f"kernel of the {way}", name, "hit and miss"] for way, names in kernels.items() for name in names]
    desc = "A miss passes all boxes from top to bottom, a hit only the first two and the last. "
    desc += " ".join(f"{name}: {', '.join(said)}." for name, said in boxes)
    return figure(*_draw(boxes), title, desc, ["stage", "holds", "passed by"], rows)


def _entries(f) -> list:
    """The cache entries of a function, the newest first."""
    return _debug_get_cache_entry_list(f.__code__)


def _draw(boxes: list) -> tuple:
    """The shapes of a stack of boxes with two ways through it, their width and height."""
    wide = max(code_width(one, 13) for name, said in boxes for one in (name, *said)) + 22
    middle, y, shapes, places = MARGIN + SIDE + wide / 2, MARGIN, [], {}
    for name, said in boxes:
        height = 24 + LINE * len(said)
        shapes += stage(middle, y, wide, height, name, said, "it-pill it-dashed" if name != "frame" else "it-pill")
        places[name] = y, y + height
        y += height + GAP
    miss = [arrow_down(middle, above[1] + 1, below[0]) for above, below in pairwise(places.values())]
    start, end, x = sum(places["guards"]) / 2, sum(places["compiled code"]) / 2, MARGIN + 10
    turn = ("H", x + 8, "Q", x, start, x, start + 8, "V", end - 8, "Q", x, end, x + 8, end, "H", MARGIN + SIDE - 7)
    hit = [path("M", MARGIN + SIDE, start, *turn), arrow_head(MARGIN + SIDE, end, "right")]
    hit.append(text(x + 6, start + 18, "hit", "it-step"))
    word = text(middle + 10, places["guards"][1] + 17, "miss", "it-step")
    ways = [group("it-1", *hit), group("it-2", *(one for way in miss for one in way), word)]
    return [*ways, *shapes], MARGIN * 2 + SIDE + wide, y - GAP + MARGIN
