"""The figure of the extension points of one call: which of them it passes, in which order, on its way and in backward,
recorded while all of them stand in its way at once."""

import warnings
from contextlib import ExitStack

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.library import _scoped_library, get_kernel
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from .checks import checked
from .drawing import arrow_down, box, figure, group, rect, text
from .layout import MARGIN, NARROW, ROOM, code_width

PLACES = {
    "above autograd": ("TorchFunctionMode", "__torch_function__"),
    "autograd": ("Library AutogradCPU",),
    "below autograd": ("TorchDispatchMode", "__torch_dispatch__"),
    "the kernel": ("Library CPU",),
    "autograd, once more": ("saved_tensors_hooks",),
}
HIGH, GAP, TEXT = 42, 14, 13  # of a box, between two boxes, size of the text


class _Above(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.log.append(("TorchFunctionMode", func.__name__))
        return func(*args, **(kwargs or {}))


class _Below(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.log.append(("TorchDispatchMode", func.overloadpacket.__name__))
        return func(*args, **(kwargs or {}))


class _Tensor(torch.Tensor):
    """A wrapper subclass with both methods."""

    @staticmethod
    def __new__(cls, a, requires_grad=False):
        return torch.Tensor._make_wrapper_subclass(cls, a.shape, dtype=a.dtype, requires_grad=requires_grad)

    def __init__(self, a, requires_grad=False):
        self.a = a

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.log.append(("__torch_function__", func.__name__))
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.log.append(("__torch_dispatch__", func.overloadpacket.__name__))
        args = [one.a if isinstance(one, _Tensor) else one for one in args]
        return _Tensor(func(*args, **(kwargs or {})))


def extension_points(f, x: torch.Tensor, backward: str, *, title: str) -> str:
    """One call of `f`, a function of torch with an operator of its own name, on the tensor `x`; and of the operator
    `backward`, by which its node computes the gradient: a box for each extension point that the call passes, in the
    order in which it passes them, with what the point is given, and beside it the same for backward. Raises TypeError
    for what is no tensor, and ValueError where the points are passed in another order than the figure draws."""
    w, log = checked(x, torch.Tensor, "x").detach(), []
    _Above.log = _Below.log = _Tensor.log = log
    w, ones = _Tensor(w, True), _Tensor(torch.ones_like(w))
    with ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the dispatcher says what is overridden
        for name in (f.__name__, backward):
            for key in ("AutogradCPU", "CPU"):
                _noted(stack.enter_context(_scoped_library("aten", "IMPL")), name, key, log)
        hooks = [lambda saved, did=did: log.append(("saved_tensors_hooks", did)) or saved for did in ("pack", "unpack")]
        with saved_tensors_hooks(*hooks), _Above(), _Below():
            y = f(w)
        forward = list(log)
        log.clear()
        with _Above(), _Below():
            torch.autograd.grad(y, w, ones)
    places = [point for points in PLACES.values() for point in points]
    back = {point: name for point, name in log if name in (backward, "unpack")}  # not the call of backward itself
    if [point for point, _ in forward] != places:
        raise ValueError(f"the figure draws {places}, and {f.__name__} passes {[point for point, _ in forward]}")
    rows = [[point, name, back.get(point, "")] for point, name in forward]
    if [bool(row[2]) for row in rows] != [False, False, *[True] * 5]:
        raise ValueError(f"backward passes {list(back)}, which is not what the figure draws")
    desc = "In this order: " + "; ".join(f"{p} is given {n}{f', in backward {b}' if b else ''}" for p, n, b in rows)
    drawn = [_draw(rows, wide) for wide in (True, False)]
    if drawn[0][1] > ROOM + 2 * MARGIN or drawn[1][1] > NARROW + 2 * MARGIN:
        raise ValueError(f"the names are too long: {f.__name__}, {backward}")
    return figure(*drawn[0], title, desc + ".", ["extension point", "forward", "backward"], rows, drawn[1])


def _noted(library, name: str, key: str, log: list) -> None:
    """Puts a kernel before the one that an operator has for a key; it notes its name and calls the other one."""
    kernel = get_kernel(f"aten::{name}", key)

    def note(keys, *args):
        log.append((f"Library {key}", name))
        return kernel.call_boxed(keys, *args)

    library.impl(name, note, key, with_keyset=True)


def _draw(rows: list, wide: bool) -> tuple:
    """The shapes, their width and height: a stack of boxes, and a second one beside it."""
    pad, apart = (26, 60) if wide else (8, 12)
    first = max(code_width(one, TEXT) for point, name, _ in rows for one in (point, name)) + pad
    second = max(code_width(name, TEXT) for *_, name in rows) + pad
    left = MARGIN + (150 if wide else 0)
    middles = [left + first / 2, left + first + apart + second / 2]
    shapes = [text(x, MARGIN + 13, said, "it-name", "middle") for x, said in zip(middles, ("forward", "backward"))]
    y, before = MARGIN + 26, 0
    for place, points in PLACES.items():
        kind = "it-element" if "autograd" in place.split()[0] else "it-pill"
        for i, point in enumerate(points):
            if not i:
                x, down = (MARGIN, HIGH / 2 + 4) if wide else (left + first + apart, 12)
                shapes.append(text(x, y + down, place, "it-note"))
            y += 0 if wide or i else 20
            name, back = next((name, back) for one, name, back in rows if one == point)
            shapes += arrow_down(middles[0], before, y) if before else []
            shapes.append(rect(middles[0] - first / 2, y, first, HIGH, kind, 4))
            shapes.append(text(middles[0], y + 17, point, "it-name", "middle"))
            shapes.append(text(middles[0], y + 34, name, "it-value", "middle"))
            shapes += box(middles[1], y, second, HIGH, back, kind, 4) if back else []
            before, y = y + HIGH + 1, y + HIGH + GAP
    y -= GAP
    shapes.append(text(middles[1], y + 17, "starts here", "it-note", "middle"))  # backward: at the last box
    return [group("it-1 it-large", *shapes)], middles[1] + second / 2 + MARGIN, y + 20 + MARGIN
