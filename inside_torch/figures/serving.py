"""The figure of a program on a new device, line by line: which operators its device was asked for and who served each,
recorded while the program runs."""

from collections import Counter
from collections.abc import Callable, Generator
from textwrap import wrap

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from .device import set_up
from .drawing import figure, group, rect, text
from .layout import MARGIN, NARROW, ROOM, code_width

LINE, PAD, TEXT = 17, 8, 13  # from one line of text to the next, inside a box, its size
KINDS = {"composite": "PyTorch's composite", "own": "kernel of its own", "fallback": "CPU fallback"}
TONES = {"composite": "it-3", "own": "it-1", "fallback": "it-2"}
CHARACTERS = 38  # of a line on a phone
Program = Callable[[str], Generator[str, None, torch.Tensor]]


class _Composed(TorchDispatchMode):
    """The operators called with or for a tensor of one device that PyTorch composes of others: their names."""

    def __init__(self, device: str):
        super().__init__()
        self.device, self.seen = device, []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        tensors = [one for one in tree_leaves((args, kwargs, out)) if isinstance(one, torch.Tensor)]
        table = torch._C._dispatch_dump_table(func.name()).splitlines()
        entry = next((line for line in table if line.startswith("PrivateUse1:")), "")
        if entry.endswith("[default backend kernel]") and any(one.device.type == self.device for one in tensors):
            self.seen.append(func.overloadpacket.__name__)
        return out


def served(program: Program, device: str, *, title: str) -> str:
    """`program(device)` on a new device of this name, made for this figure, and `program("cpu")`. A program yields the
    text of each line after it has run, and returns a tensor. Below each line are its operators in three columns: those
    that PyTorch composes of others for any device, those for which the device has a kernel, those that it leaves to the
    CPU, each with the number of calls. Raises ValueError for a program without lines, for names that do not fit, and
    when the device computes something else than the CPU."""
    keep = set_up(device, asked := [])
    lines, ours = _run(program(device), device, asked)
    if not lines:
        raise ValueError("the program has no lines")
    if not torch.equal(ours.cpu(), _run(program("cpu"), device, [])[1]):
        raise ValueError(f"{device} computes something else than the CPU")
    total = {kind: len({name for _, cells in lines for name in cells[kind]}) for kind in KINDS}
    rows = [[line, KINDS[kind], name, n] for line, cells in lines for kind in KINDS for name, n in cells[kind].items()]
    desc = "For each line of the program its operators, by who served them. " + " ".join(
        f"{line}: {'; '.join(f'{KINDS[kind]}: {_said(cells[kind])}' for kind in KINDS)}." for line, cells in lines
    )
    drawn = [_draw(lines, total, wide) for wide in (True, False)]
    if drawn[0][1] > ROOM + 4 * MARGIN or drawn[1][1] > NARROW + 2 * MARGIN:
        raise ValueError(f"the names are too long: {ROOM} can be drawn, on a phone {NARROW}")
    del keep
    return figure(*drawn[0], title, desc, ["line", "served by", "operator", "calls"], rows, drawn[1])


def _run(steps: Generator, device: str, asked: list) -> tuple:
    """What each line asked for, as (line, {kind: Counter of operators}), and what the program returns."""
    lines = []
    with _Composed(device) as composed:
        while True:
            del asked[:], composed.seen[:]
            try:
                line = next(steps)
            except StopIteration as end:
                return lines, end.value
            cells = {kind: Counter(name for name, by in asked if by == kind) for kind in KINDS}
            lines.append((line, {**cells, "composite": Counter(composed.seen)}))


def _said(cell: Counter) -> str:
    return ", ".join(_names(cell)) or "none"


def _names(cell: Counter) -> list:
    return [f"{name}\u00a0\u00d7{n}" if n > 1 else name for name, n in cell.items()]


def _draw(lines: list, total: dict, wide: bool) -> tuple:
    """The shapes, their width and height. On a phone the three columns of a line stand below each other."""
    names = _names if wide else lambda cell: wrap(_said(cell), CHARACTERS) * bool(cell)
    said = [(line, {kind: names(cells[kind]) for kind in KINDS}) for line, cells in lines]
    heads = {kind: f"{KINDS[kind]}: {total[kind]}" for kind in KINDS}
    longest = {kind: max([heads[kind], *(s for _, cells in said for s in cells[kind])], key=len) for kind in KINDS}
    widths = {kind: code_width("-" * len(one), TEXT) for kind, one in longest.items()}
    whole = sum(widths.values()) + 6 * PAD + 2 * MARGIN if wide else NARROW
    lefts = dict.fromkeys(KINDS, MARGIN)
    if wide:
        lefts["own"] = MARGIN + widths["composite"] + 2 * PAD + MARGIN
        lefts["fallback"] = lefts["own"] + widths["own"] + 2 * PAD + MARGIN
    spans = {kind: widths[kind] + 2 * PAD if wide else NARROW for kind in KINDS}
    shapes, y = [], MARGIN
    for i, kind in enumerate(KINDS):
        low = y if wide else y + 30 * i
        shapes.append(group(TONES[kind], rect(lefts[kind], low, spans[kind], 24, "it-element", 4)))
        shapes.append(text(lefts[kind] + PAD, low + 16, heads[kind], "it-name"))
    y += (24 if wide else 84) + 2 * PAD
    for line, cells in said:
        shapes += [text(MARGIN, y + 14, line, "it-name")]
        y += 22
        for kind, names in cells.items():
            if names or wide:
                height = LINE * len(names) + PAD
                shapes.append(group(TONES[kind], *_cell(names, lefts[kind], y, spans[kind], height)))
                y += 0 if wide else height + MARGIN
        y += max(LINE * len(names) for names in cells.values()) + PAD + 2 * PAD if wide else PAD
    return [group("it-large", *shapes)], whole + 2 * MARGIN, y - PAD + MARGIN


def _cell(names: list, x, y, width, height) -> list:
    if not names:
        return []
    written = [text(x + PAD, y + 16 + LINE * i, name, "it-value") for i, name in enumerate(names)]
    return [rect(x, y, width, height, "it-element", 4), *written]
