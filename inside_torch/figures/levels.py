"""The figure of one call inside function transforms: through the level of each transform down to the kernels, and back
up with its result, recorded while it runs."""

import torch
from torch._C import _functorch
from torch._C._functorch import TransformType, get_unwrapped, maybe_get_level
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from .checks import checked
from .drawing import arrow_down, arrow_head, figure, group, path, rect, text
from .layout import MARGIN, NARROW, ROOM, code_width

LINE, TEXT = 16, 13  # from one line of text to the next, and its size
WRAPPERS = {TransformType.Vmap: "BatchedTensor", TransformType.Grad: "GradTrackingTensor"}


class _Calls(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(func.__name__)
        return func(*args, **(kwargs or {}))


class _Operators(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(" ".join([str(func.overloadpacket), *(_shape(a) for a in args if torch.is_tensor(a))]))
        return func(*args, **(kwargs or {}))


def call_levels(transform, f, inputs: dict[str, torch.Tensor], *, title: str) -> str:
    """`transform(f)(*inputs)`, where f makes one call of torch, as a stack: f, the level of each transform, the highest
    first, and the operators that reach the kernels. Left of the middle the arguments go down, with the wrapper and the
    shape that they have there; right of it the result comes up.

    `transform` is made of vmap and of grad. Raises TypeError for inputs that are no tensors, ValueError where no
    transform or another one runs, for more or less than one call, for a call without a node or without a batching rule
    of its own, and for words that do not fit."""
    inputs = {name: checked(one, torch.Tensor, "each of the inputs") for name, one in inputs.items()}
    stages, ways = [], []

    def watched(*args):
        with _Calls() as calls, _Operators() as below:
            y = f(*args)
        if len(calls.seen) != 1:
            raise ValueError(f"one call of torch is drawn, and f makes {calls.seen}")
        stages.append(("f", [f"torch.{calls.seen[0]}({', '.join(inputs)})"]))
        _unwrap(calls.seen[0], dict(zip(inputs, args)), y, stages, ways)
        stages.append(("kernels", below.seen))
        return y.sum()

    transform(watched)(*inputs.values())
    rows = [[name, "; ".join(said), *_said(way, True)] for (name, said), way in zip(stages, [[], *ways])]
    desc = "From top to bottom: " + " ".join(
        f"{name}: {said}{f', called with {down}, returns {up}' if down else ''}." for name, said, down, up in rows
    )
    heads = ["level", "does", "is called with", "returns"]
    drawn = [_draw(stages, ways, wide) for wide in (True, False)]
    if drawn[0][1] > ROOM + 2 * MARGIN or drawn[1][1] > NARROW + 2 * MARGIN:
        raise ValueError(f"the call is too wide: {ROOM} can be drawn, on a phone {NARROW}")
    return figure(*drawn[0], title, desc, heads, rows, drawn[1])


def _unwrap(call: str, args: dict, y: torch.Tensor, stages: list, ways: list) -> None:
    """Adds what each level does, and what goes down to it and comes up from it: (name, wrapper, shape) of each."""
    interpreters = _functorch.get_interpreter_stack()
    if not interpreters or any(one.key() not in WRAPPERS for one in interpreters):
        raise ValueError("only levels of vmap and of grad are drawn")
    for one in reversed(interpreters):
        level, wrapper = one.level(), WRAPPERS[one.key()]
        ways.append(_way(args, y))
        said = [f"unwraps {wrapper}"]
        if one.key() == TransformType.Grad:
            if not y.grad_fn:
                raise ValueError(f"level {level} left no node")
            said.append(f"leaves {y.grad_fn.name()}")
        else:
            if not torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{call}", "FuncTorchBatched"):
                raise ValueError(f"aten::{call} has no batching rule of its own")
            said.append(f"runs the batching rule of {call}")
        stages.append((f"level {level}: {one.key().name.lower()}", said))
        args = {name: get_unwrapped(arg) if maybe_get_level(arg) == level else arg for name, arg in args.items()}
        y = get_unwrapped(y) if maybe_get_level(y) == level else y
    ways.append(_way(args, y))


def _way(args: dict, y: torch.Tensor) -> list:
    """What goes down, and last what comes up, as (name, wrapper, shape)."""
    return [(name, *_kind(one)) for name, one in {**args, "": y}.items()]


def _kind(tensor: torch.Tensor) -> tuple:
    """The name of the wrapper that a tensor is, if it is one, and its shape as the code at this level sees it."""
    name = "BatchedTensor" if _functorch.is_batchedtensor(tensor) else "Tensor"
    return "GradTrackingTensor" if _functorch.is_gradtrackingtensor(tensor) else name, _shape(tensor)


def _shape(tensor: torch.Tensor) -> str:
    return str(tuple(tensor.shape))


def _said(way: list, wide: bool) -> tuple:
    """The arguments as one text and the result as another; without the wrappers where there is no room for them."""
    said = _lines(way, wide) or [""]
    return ", ".join(said[:-1]), said[-1]


def _lines(way: list, wide: bool) -> list:
    return [" ".join(filter(None, (name, wrapper if wide else "", shape))) for name, wrapper, shape in way]


def _draw(stages: list, ways: list, wide: bool) -> tuple:
    """The shapes, their width and height."""
    down, up = [_lines(way[:-1], wide) for way in ways], [_lines(way[-1:], wide)[0] for way in ways]
    boxes = max(code_width(said, TEXT) for name, lines in stages for said in (name, *lines)) + 24
    left = max([boxes / 2 - 20, *(code_width(one, TEXT) + 12 for args in down for one in args)])
    right = max([boxes / 2 - 20, *(code_width(one, TEXT) + 12 for one in up)])
    middle, gap = MARGIN + left + 20, LINE * max(map(len, down)) + 24
    shapes, y = [], MARGIN
    for i, (name, said) in enumerate(stages):
        if i:
            top, low = y - gap, y
            shapes.append(group("it-1", *arrow_down(middle - 20, top, low)))
            shapes.append(group("it-2", path("M", middle + 20, low, "V", top + 6), arrow_head(middle + 20, top, "up")))
            start = (top + low) / 2 + 4
            first = start - LINE * (len(down[i - 1]) - 1) / 2
            for j, one in enumerate(down[i - 1]):
                shapes.append(text(middle - 30, first + LINE * j, one, "it-value", "end"))
            shapes.append(text(middle + 30, start, up[i - 1], "it-value"))
        height = 26 + 15 * len(said)
        shapes.append(rect(middle - boxes / 2, y, boxes, height, "it-pill", 4))
        shapes.append(text(middle, y + 16, name, "it-name", "middle"))
        shapes += [text(middle, y + 32 + 15 * j, one, "it-value", "middle") for j, one in enumerate(said)]
        y += height + gap
    return [group("it-large", *shapes)], middle + 20 + right + MARGIN, y - gap + MARGIN
