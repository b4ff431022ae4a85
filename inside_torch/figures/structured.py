"""The figure of a structured operator: the classes that torchgen makes for it, what people typed of them, and the
wrappers that make an object of each."""

import re
from pathlib import Path

import torch

from inside_torch.drawing.checks import checked
from inside_torch.drawing.layout import MARGIN
from inside_torch.drawing.svg import arrow, group, text

from .boxes import Box, down, grid, laid_out
from .entry import _parsed

APART, GAP = 20, 32  # between columns and rows: room for an arrow
MADE = "it-pill it-dashed"
LANE = 18  # beside the boxes on a phone: room for an arrow
LEGEND = "dashed: all by torchgen", "solid arrow: to a subclass", "dotted arrow: makes an object"


def wrapper_classes(name: str, *, title: str) -> str:
    """The classes of the structured operator `name` on the CPU, each below the one that it inherits from: the one with
    `meta`, the one with `impl`, both typed by people, and one for each form with what it does with sizes. Below those
    are the wrappers that make an object of them. Source: torchgen, run again, and the headers in ATen/ops. Raises
    TypeError for what is no string, ValueError for an operator that is not structured, or without a kernel for the CPU,
    and for names that do not fit."""
    code, header = _written(checked(name, str, "name"))
    forms = re.findall(r"(wrapper_\w+)\(.*\n(\w+) op\b", code)
    kernel = re.search(r"^struct \w+ final : public at::native::(\w+) ", code, re.M)[1]
    base = re.search(rf"struct TORCH_API {kernel} : public at::meta::(\w+) ", header)[1]
    hand = [(base, "meta"), (kernel, "impl")]
    last = [(one, _on_sizes(code, one), wrapper) for wrapper, one in forms]
    rows = [[one, f"{one}::{function}", "by hand", ""] for one, function in hand]
    rows += [[one, does, "torchgen", wrapper] for one, does, wrapper in last]
    desc = f"{base} has meta, {kernel} inherits from it and has impl. From {kernel} inherit {len(last)} classes: "
    desc += "; ".join(f"{one}, which calls {does} when it gets the sizes, for {wrapper}" for one, does, wrapper in last)
    columns = ["class", "its function", "written by", "wrapper"]
    return laid_out(title, desc + ".", columns, rows, _draw, hand, last, kernel)


def _written(name: str) -> tuple:
    """The code that torchgen writes for the CPU for all forms of an operator, and the header of its kernels."""
    from torchgen import dest
    from torchgen.gen import get_grouped_native_functions
    from torchgen.model import DispatchKey, NativeFunctionsGroup
    from torchgen.selective_build.selector import SelectiveBuilder
    from torchgen.utils import Target

    functions, _, indices = _parsed()
    groups = get_grouped_native_functions(list(functions.values()))
    found = (g for g in groups if isinstance(g, NativeFunctionsGroup) and str(g.functional.func.name) == name)
    one, index = next(found, None), indices[DispatchKey.CPU]
    if one is None or not one.structured or not index.get_kernel(one.out):
        raise ValueError(f"{name} is not structured, or has no kernel for the CPU")
    settings = {"rocm": False, "symint": True, "class_method_name": None, "skip_dispatcher_op_registration": False}
    write = dest.RegisterDispatchKey(
        index, Target.ANONYMOUS_DEFINITION, SelectiveBuilder.get_nop_selector(), **settings
    )
    header = Path(torch.__file__).parent / f"include/ATen/ops/{one.out.func.name.name}_native.h"
    return "".join(write(one)), header.read_text(encoding="utf-8")


def _on_sizes(code: str, name: str) -> str:
    """The function that a class calls with the sizes of the result."""
    own = code.split(f"struct {name} ")[1].split("set_output_raw_strided(")[1]
    return re.search(r"(\w+)\([^)]*options\);", own)[1]


def _draw(hand: list, last: list, kernel: str, wide: bool) -> list:
    """The classes of the forms side by side, or on a phone one below the other, each with its wrapper below it. An
    arrow leads from a class to each that inherits from it, on a phone by a lane at the left."""
    above = [Box([one, f"{function}(), by hand"], bold=one) for one, function in hand]
    ends = [Box([kernel, one.removeprefix(kernel), f"{does}()"], MADE, f"{does}()") for one, does, _ in last]
    wrappers = [Box([wrapper], MADE) for *_, wrapper in last]
    if wide:
        middle = len(last) // 2
        rows = [[one if i == middle else None for i in range(len(last))] for one in above]
        shapes, at = grid([*rows, ends, wrappers], apart=APART, gap=GAP, pad=10)
        upper, lower = at[0, middle], at[1, middle]
        pairs = [(at[2, i], at[3, i]) for i in range(len(last))]
        ways = [("M", lower.middle, lower.low + 1, "V", lower.low + GAP / 2, "H", end.middle) for end, _ in pairs]
        inherits = [arrow(end.middle, end.y, "down", *way) for (end, _), way in zip(pairs, ways)]
        x, y = MARGIN, MARGIN + 12
    else:
        rows = [[one] for one in (*above, *(one for pair in zip(ends, wrappers) for one in pair))]
        shapes, at = grid(rows, left=MARGIN + LANE, gap=24, pad=10)
        upper, lower = at[0, 0], at[1, 0]
        pairs = [(at[2 * i + 2, 0], at[2 * i + 3, 0]) for i in range(len(last))]
        start = ("M", lower.x, lower.level, "H", MARGIN, "V")
        inherits = [arrow(end.x, end.level, "right", *start, end.level) for end, _ in pairs]
        x, y = MARGIN, pairs[-1][1].low + 22
    makes = [arrow(end.middle, end.low, "up", "M", end.middle, wrapper.y - 1) for end, wrapper in pairs]
    lines = [*down([upper, lower]), *(shape for one in inherits for shape in one)]
    notes = [text(x, y + 18 * i, said, "it-note") for i, said in enumerate(LEGEND)]
    return [group("it-1", *lines), group("it-3", *(shape for one in makes for shape in one)), *shapes, *notes]
