"""The figure of all kernels that run in one call, in several situations: a function is put in front of each kernel, and
notes it while the call runs."""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby
from textwrap import wrap

import torch
from torch.library import Library

from inside_torch.drawing.layout import MARGIN, ROOM
from inside_torch.drawing.svg import group, rect, text

from .boxes import LINE, Box, column, down, grid, laid_out
from .keys import COMPOSITE, entries
from .noted import put_before

ABOVE = """FuncTorchDynamicLayerFrontMode FuncTorchGradWrapper FuncTorchBatched AutocastCPU AutogradMeta AutogradCPU
    ADInplaceOrView FuncTorchDynamicLayerBackMode BackendSelect""".split()
BACKENDS = ("SparseCPU", "Meta", "CPU")
LABEL, BAND = 176, 32  # px for the names of keys, height of a band around its boxes


def kernels_ran(calls: dict[str, Callable], *, title: str) -> str:
    """The kernels that run in each of the calls, functions without arguments: a column for a call, a row for a key, in
    the order in which calls reach them, and in a box the operators whose kernels for this key run, with a number where
    one runs several times. The first operator is bold. Below the name of a call stands how many kernels run. What the
    kernel of a backend calls is left out.

    Raises TypeError for what can't be called, ValueError for a call without a kernel and a name that is too long."""
    if strange := [name for name, call in calls.items() if not callable(call)]:
        raise TypeError(f"each call must be a function, {strange[0]} is none")
    ran = {name: noted(call) for name, call in calls.items()}
    if empty := [name for name in ran if not ran[name]]:
        raise ValueError(f"no kernel runs in {empty[0]}")
    keys = in_order([list(dict.fromkeys(key for key, _ in seen)) for seen in ran.values()])
    heads = {name: [name, f"{len(seen)} kernel{'s' if len(seen) > 1 else ''}"] for name, seen in ran.items()}
    cells = {(name, key): _counted([op for k, op in ran[name] if k == key]) for name in ran for key in keys}
    rows = [[key, *(", ".join(cells[name, key]) for name in ran)] for key in keys]
    said = {
        name: "; ".join(f"{key}: {', '.join(cells[name, key])}" for key in keys if cells[name, key]) for name in ran
    }
    desc = " ".join(f"{name}, {heads[name][1]}: {said[name]}." for name in ran)
    first = next(iter(ran.values()))[0][1]
    return laid_out(title, desc, ["key", *ran], rows, _draw, heads, keys, cells, first)


def _counted(ops: list) -> list:
    """Each operator once, with the number of its kernels that ran where there are several."""
    return [f"{op} \N{MULTIPLICATION SIGN}{count}" if count > 1 else op for op, count in Counter(ops).items()]


def _draw(heads: dict, keys: list, cells: dict, first: str, wide: bool) -> list:
    """A column for each call, a band for each key; on a phone one call below the other."""
    if not wide:
        return [shape for shapes in _narrow(heads, keys, cells, first) for shape in shapes]
    rows = [[Box(lines, "", lines[0]) for lines in heads.values()]]
    rows += [[Box(ops, bold=first) if (ops := cells[name, key]) else None for name in heads] for key in keys]
    shapes, places = grid(rows, LABEL, apart=8, gap=[24, *[BAND] * len(keys)], pad=12, room=ROOM - LABEL, even=False)
    bands, names = [], []
    for i, key in enumerate(keys, 1):
        here = [place for (row, _), place in places.items() if row == i]
        y, high = here[0].y, max(place.height for place in here)
        bands += [rect(MARGIN, y - BAND / 2, ROOM, high + BAND, "it-fill", 3)] * (i % 2)
        said = wrap(re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", key), 22)
        names += [text(MARGIN + 8, y + 17 + LINE * n, s.replace(" ", ""), "it-value") for n, s in enumerate(said)]
    ways = [down(place for (_, j), place in places.items() if j == column) for column in range(len(heads))]
    return [group("it-3", *bands), *names, group("it-1", *(one for way in ways for one in way)), *shapes]


def _narrow(heads: dict, keys: list, cells: dict, first: str) -> Iterator[list]:
    y = MARGIN
    for name, (_, count) in heads.items():
        rows = []
        for key in (key for key in keys if cells[name, key]):
            runs = [", ".join(ops) for _, ops in groupby(cells[name, key], first.__eq__)]
            rows.append([Box([f"{key}:", *runs], bold=first)])
        shapes, places = column(rows, y + 24)
        yield [text(MARGIN, y + 14, f"{name}: {count}", "it-name"), *shapes, group("it-1", *down(places.values()))]
        y = max(place.low for place in places.values()) + 16


def noted(call: Callable) -> list:
    """The kernels that run in a call as (key, operator), in their order. The profiler finds the operators, and then
    the call runs again, with a function in front of each of their kernels."""
    with warnings.catch_warnings(), torch.autograd.profiler.profile() as seen:
        warnings.simplefilter("ignore")
        call()
    called = {event.name for event in seen.function_events}
    names = [name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")]
    kernels = {name.removeprefix("aten::"): _keys(name) for name in names if name.split(".")[0] in called}
    library, ran = Library("aten", "IMPL"), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a kernel is replaced, until the library is destroyed
        note = lambda name, key, *_: ran.append((key, name.split(".")[0]))  # noqa: E731
        put_before(library, kernels, note, BACKENDS.__contains__)
        try:
            call()
        finally:
            library._destroy()
    return ran


def _keys(name: str) -> list:
    """The keys for which an operator has a kernel, of those that are drawn."""
    table = {key: one for key, one in entries(name).items() if not one["falls"] and key in (*ABOVE, *BACKENDS)}
    # torch refuses a kernel for Meta where the operator is made of others
    return [key for key, one in table.items() if key != "Meta" or one["kind"] != COMPOSITE]


def in_order(columns: list) -> list:
    """The keys of all calls in an order that each of them keeps; where none tells, the highest first."""
    order, left = [], sorted({key for column in columns for key in column}, key=_rank)
    while left:
        later = {key for column in columns for key in [one for one in column if one in left][1:]}
        if not (free := [key for key in left if key not in later]):
            raise ValueError(f"the calls reach {left} in different orders")
        order.append(left.pop(left.index(free[0])))
    return order


def _rank(key: str) -> tuple:
    """The place of a key in the dispatcher's order: how many kinds of keys stand above it."""
    keys, passed, parsed = torch._C._dispatch_keyset_full(), 0, torch._C._dispatch_key_parse(key)
    while keys.has(parsed):
        keys, passed = keys.remove(keys.highestPriorityTypeId()), passed + 1
    return passed, key
