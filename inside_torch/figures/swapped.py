"""The figure of one call under modes that put another call in its place: what each station is asked for, what it makes
of that, and where autograd is skipped, recorded while the call runs under each of them."""

import torch

from inside_torch.drawing.checks import checked, checked_dict
from inside_torch.drawing.layout import MARGIN, READ, widest
from inside_torch.drawing.svg import arrow_down, text

from .boxes import Box, grid, laid_out
from .layers import Functions, Operators

STATIONS = ("function level", "autograd", "dispatch level", "kernel")


def swapped_call(f, x: torch.Tensor, modes: dict, *, title: str) -> str:
    """`f(x)`, one call of torch, inside each of one or two modes, a column from top to bottom for each: the function
    that Python calls, autograd's node, the operator that gets to the dispatch level, and the one whose kernel runs. A
    level where the mode's handler calls something else says what, and whether autograd sees it. The operator `detach`,
    by which autograd saves a result, is left out. Raises TypeError for what is no tensor and no dict, ValueError for
    more or less than one call, for a result without a node, for a mode that swaps nothing, and for long names."""
    checked(x, torch.Tensor, "x"), checked_dict(modes, object, "modes", most=2)
    columns = {name: _recorded(f, x, mode) for name, mode in modes.items()}
    rows = [[name, station, ", ".join(said)] for name, way in columns.items() for station, said in zip(STATIONS, way)]
    said = {mode: "; ".join(f"{station}: {holds}" for name, station, holds in rows if name == mode) for mode in columns}
    desc = " ".join(f"{mode}, from top to bottom: {way}." for mode, way in said.items())
    return laid_out(title, desc, ["mode", "station", "holds"], rows, _draw, columns, kind="it-1 it-large")


def _recorded(f, x: torch.Tensor, mode) -> list:
    """The lines of each station. The recorders outside of the mode are asked after its handler, and see what it calls;
    those inside see what it is given."""
    x, called, passed, asked, ran = x.detach().clone().requires_grad_(), [], [], [], []
    outer, inner = (Functions(passed, _function), Operators(ran, _operator)), Functions(called, _function)
    with outer[0], outer[1], mode, inner, Operators(asked, _operator):
        y = f(x)
    asked, ran = ([one for one in seen if one[0] != "detach"] for seen in (asked, ran))
    if [len(seen) for seen in (called, passed, asked, ran)] != [1] * 4:
        raise ValueError(f"one call of one operator is drawn, and f makes {called}, {asked}")
    if not (isinstance(y, torch.Tensor) and y.grad_fn):
        raise ValueError("f must return a tensor with a node")
    levels = [_level(*seen[0], *calls[0]) for seen, calls in ((called, passed), (asked, ran))]
    if [len(level) for level in levels] == [1, 1]:
        raise ValueError(f"{type(mode).__name__} swaps nothing")
    return [levels[0], [y.grad_fn.name()], levels[1], [ran[0][0]]]


def _function(func, _args) -> tuple:
    return func.__name__, _skipped()


def _operator(func, _args) -> tuple:
    return func.overloadpacket.__name__, _skipped()


def _skipped() -> bool:
    """Whether a call that is made now gets around autograd."""
    return torch._C._dispatch_tls_is_dispatch_key_excluded("AutogradFunctionality")


def _level(given: str, _: bool, calls: str, skipped: bool) -> list:
    if given == calls:
        return [given]
    return [given, f"handler calls {calls}", "autograd skipped" if skipped else "autograd is next"]


def _draw(columns: dict, wide: bool) -> list:
    """A column of boxes for each mode, with the names of the stations on the left, or on a phone above their boxes."""
    rows = [[Box([name], "", name) for name in columns]]
    for way in zip(*columns.values()):
        rows.append([Box(said, "it-element" if len(said) > 1 else "it-pill") for said in way])
    left = MARGIN + widest(STATIONS, READ) + 16 if wide else MARGIN
    shapes, at = grid(rows, left, MARGIN, 40 if wide else 10, 26 if wide else 36, 26 if wide else 8)
    for (i, j), place in at.items():
        if i > 1:  # on a phone the arrows leave room for the names
            x = place.middle if wide else place.right - 16
            shapes += arrow_down(x, at[i - 1, j].low + 1, place.y)
    for i, station in enumerate(STATIONS, 1):
        place = at[i, 0]
        shapes.append(text(MARGIN, place.level + 4.5 if wide else place.y - 7, station, "it-note"))
    return shapes
