"""The figure of the loops that an elementwise kernel runs: which cells of memory each step reads and writes."""

from itertools import product

import torch

from inside_torch.drawing.checks import checked, checked_dict
from inside_torch.drawing.layout import CELL, MARGIN, widest
from inside_torch.drawing.svg import cell, element, number, text

from .boxes import extent, laid_out

STRIP, APART = CELL + 58, 36  # height of a strip with what stands above it, and between two panels


def loop_plans(sums: dict[str, tuple], *, title: str) -> str:
    """For each sum of two tensors the memory of the result and of both operands as strips. Above a cell stand the steps
    of the kernel's loops that use it, and its tone says in which turn of the outer loop they do. `sums` maps a sum as
    it is written, such as "x + y", to its operands, at most 8 elements and 3 turns, in two dimensions of loops or one.

    The loops are those of torch's own TensorIterator. Raises TypeError for what is no pair of tensors, ValueError for
    what cannot be drawn, and where a step does not write what it reads, or `+` gives other strides than the plan."""
    panels, table, told = [], [], []
    for label, pair in checked_dict(sums, tuple, "sums", most=2).items():
        names, loops, walked = [label, *label.split(" + ")], *_walked(label, pair)
        turns = [f"{size} turns" for size in loops[:-1]] + [f"{loops[-1]} steps"]
        panels.append(_panel(label, names, " of ".join(turns), walked))
        for name, (strides, indices, _) in zip(names, walked):
            table.append([label, name, list(strides), indices])
            told.append(f"{label}, {' of '.join(turns)}: {name} is used at {', '.join(map(str, indices))}.")
    columns = ["sum", "memory of", "strides from the outer loop to the inner", "index at each step"]
    return laid_out(title, " ".join(told), columns, table, _beside, panels, kind="")


def _walked(label: str, pair: tuple) -> tuple:
    """The sizes of the loops, outer first, and for result and operands: strides, the index at each step, values."""
    if len(pair) != 2 or label.count(" + ") != 1:
        raise ValueError(f"{label!r} must be a sum of two, written with a plus")
    a, b = (checked(one, torch.Tensor, f"each operand of {label!r}") for one in pair)
    if a.dtype != b.dtype or a.dtype.is_floating_point:
        raise ValueError(f"the operands of {label!r} must be integers of one dtype")
    from torch._tensor_iterator import binary_op  # new in torch 2.13: without it, the other figures draw on 2.12

    plan, result = binary_op(None, a, b), a + b
    loops = tuple(plan.shape)[::-1]
    if not 1 <= len(loops) <= 2 or not 2 <= plan.numel <= 8 or (len(loops) == 2 and loops[0] > 3):
        raise ValueError(f"{label!r} needs loops of {loops}: one or two, of 2 to 8 steps and 3 turns, can be drawn")
    walked = []
    for i, one in enumerate((result, a, b)):
        strides, count = plan.element_strides(i)[::-1], one.untyped_storage().nbytes() // one.itemsize
        at = [one.storage_offset() + sum(map(int.__mul__, place, strides)) for place in product(*map(range, loops))]
        walked.append((strides, at, one.as_strided((count,), (1,), 0).tolist()))
    written, *read = ([values[i] for i in at] for _, at, values in walked)
    if written != list(map(int.__add__, *read)) or sorted(walked[0][1]) != list(range(plan.numel)):
        raise ValueError(f"a step of {label!r} does not write the sum of what it reads")
    if plan.output().stride() != result.stride():
        raise ValueError(f"{label!r} has strides {result.stride()}, and the plan {plan.output().stride()}")
    return loops, walked


def _panel(label: str, names: list, turns: str, walked: list) -> list:
    """One sum: its loops in words, and below them three strips."""
    steps = len(walked[0][1])
    inner = int(turns.split()[-2])
    shapes = [text(0, 12, label, "it-name"), text(0, 30, turns, "it-note")]
    for row, (name, (_, at, values)) in enumerate(zip(names, walked)):
        y = 36 + STRIP * row
        shapes.append(text(0, y + 18, f"{'writes' if not row else 'reads'} {name}", "it-value"))
        side = max(CELL, widest(map(str, values), 12) + 5)
        for index, value in enumerate(values):
            used = [step for step in range(steps) if at[step] == index]
            tones = sorted({step // inner + 1 for step in used})
            above = ",".join(str(step + 1) for step in used)
            shapes += cell(side * index, y + 44, side, str(value), tones=tones, index=above)
    return shapes


def _beside(panels: list, wide: bool) -> tuple:
    """The panels side by side on a desktop, one below the other on a phone."""
    sizes, body, x, y = [extent(panel, 12) for panel in panels], [], MARGIN, MARGIN
    for panel, (width, height) in zip(panels, sizes):
        body.append(element("g", *panel, transform=f"translate({number(x)} {number(y)})"))
        x, y = (x + width + APART, y) if wide else (x, y + height + 16)
    widths, heights = zip(*sizes)
    if wide:
        return body, sum(widths) + APART * (len(panels) - 1) + 2 * MARGIN, max(heights) + MARGIN
    return body, max(widths) + 2 * MARGIN, y - 16 + MARGIN
