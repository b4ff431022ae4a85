"""The figure of the extension points of one call: which of them it passes, in which order, on its way and in backward,
recorded while all of them stand in its way at once."""

import warnings
from contextlib import ExitStack
from itertools import pairwise

import torch
from torch.library import _scoped_library

from inside_torch.drawing.checks import checked
from inside_torch.drawing.layout import MARGIN
from inside_torch.drawing.svg import arrow_down, path, text

from .boxes import Box, down, grid, laid_out
from .layers import Functions, Operators
from .noted import put_before

PLACES = {
    "above autograd": ("TorchFunctionMode", "__torch_function__ of a subclass"),
    "in its place": ("Library AutogradCPU",),
    "autograd": ("autograd's function",),
    "below autograd": ("TorchDispatchMode", "__torch_dispatch__ of a subclass", "Library CPU"),
}


class _Tensor(torch.Tensor):
    """A wrapper subclass with both methods."""

    @staticmethod
    def __new__(cls, a, requires_grad=False):
        return torch.Tensor._make_wrapper_subclass(cls, a.shape, dtype=a.dtype, requires_grad=requires_grad)

    def __init__(self, a, requires_grad=False):
        self.a = a

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.log.append(("__torch_function__ of a subclass", func.__name__))
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.log.append(("__torch_dispatch__ of a subclass", func.overloadpacket.__name__))
        args = [one.a if isinstance(one, _Tensor) else one for one in args]
        return _Tensor(func(*args, **(kwargs or {})))


def extension_points(f, x: torch.Tensor, backward: str, *, title: str) -> str:
    """One call of `f`, a function of torch with an operator of its own name, on the tensor `x`; and of the operator
    `backward`, by which its node computes the gradient: a box for each extension point that the call passes, in the
    order in which it passes them, with what the point is given, and beside it the same for backward; and among them
    autograd's function, with the node that it makes. Raises TypeError for what is no tensor, and ValueError where the
    points are passed in another order than the figure draws."""
    w, log = checked(x, torch.Tensor, "x").detach(), []
    _Tensor.log = log
    above = lambda func, args: ("TorchFunctionMode", func.__name__)  # noqa: E731
    below = lambda func, args: ("TorchDispatchMode", func.overloadpacket.__name__)  # noqa: E731
    w, ones = _Tensor(w, True), _Tensor(torch.ones_like(w))
    with ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the dispatcher says what is overridden
        library = stack.enter_context(_scoped_library("aten", "IMPL"))
        kernels = dict.fromkeys((f.__name__, backward), ("AutogradCPU", "CPU"))
        put_before(library, kernels, lambda name, key, *_: log.append((f"Library {key}", name)))
        with Functions(log, above), Operators(log, below):
            y = f(w)
        forward = [(point, name) for point, name in log if name == f.__name__]  # not detach, by which results are saved
        log.clear()
        with Functions(log, above), Operators(log, below):
            (gradient,) = torch.autograd.grad(y, w, ones)
    places = [point for place, points in PLACES.items() for point in points if place != "autograd"]
    back = {point: name for point, name in log if name == backward}  # not the call of backward itself
    if [point for point, _ in forward] != places:
        raise ValueError(f"the figure draws {places}, and {f.__name__} passes {[point for point, _ in forward]}")
    rows = [[point, name, back.get(point, "")] for point, name in forward]
    if list(back) != places[2:]:  # from autograd down
        raise ValueError(f"backward passes {list(back)}, which is not what the figure draws")
    made = [one.grad_fn.name() if one.grad_fn else "no node" for one in (y, gradient)]
    rows.insert(3, [*PLACES["autograd"], *(f"makes {one}" for one in made)])
    verbs = ["" if point in PLACES["autograd"] else "is given " for point, *_ in rows]
    says = [f"{p} {v}{n}{f', in backward {b}' if b else ''}" for v, (p, n, b) in zip(verbs, rows)]
    desc = "In this order: " + "; ".join(says)
    columns = ["extension point", "forward", "backward"]
    return laid_out(title, desc + ".", columns, rows, _draw, rows, kind="it-1 it-large")


def _draw(rows: list, wide: bool) -> list:
    """A stack of boxes, those of a place beside one line, and a second stack, which starts at autograd."""
    places = {point: place for place, points in PLACES.items() for point in points}
    of = {place: [i for i, (point, *_) in enumerate(rows, 1) if places[point] == place] for place in PLACES}
    boxes, gaps = [[Box([way], "", way) for way in ("forward", "backward")]], []
    for i, (point, name, back) in enumerate(rows, 1):
        kind = "it-element" if places[point] == "autograd" else "it-pill"
        head, *rest = point.split(" of a ")  # a class of tensors has a line of its own
        lines = [head, *(f"of a {one}" for one in rest), name]
        boxes.append([Box(lines, kind, head), Box([back], kind) if back else None])
        gaps.append(14 if wide or i != of[places[point]][0] else 28)
    left, apart, pad = (MARGIN + 150, 60, 26) if wide else (MARGIN, 10, 5)
    shapes, at = grid(boxes, left, MARGIN, apart, [*gaps, 14], pad)
    shapes += down(at[i, 0] for i in range(1, len(boxes)))
    for name, (i, *_, last) in ((name, (rows[0], *rows)) for name, rows in of.items()):
        place, low = at[i, 0], at[last, 0].low
        x, y = (MARGIN, (place.y + low) / 2 + 4) if wide else (place.right + apart, place.y - 8)
        shapes.append(text(x, y, name, "it-note"))
        shapes += [path("M", left - 16, place.y, "V", low)] if wide else []
    first = at[3, 1]
    beside = first.middle if wide else first.right - 12  # on a phone the names of places stand in the middle
    for a, b in pairwise(at[i, 1] for i in range(3, len(rows) + 1)):
        shapes += arrow_down(beside, a.low + 1, b.y)
    above = at[2, 0]
    shapes += arrow_down(beside, above.level + 8, first.y)
    return [*shapes, text(first.middle, above.level, "from autograd", "it-note", "middle")]
