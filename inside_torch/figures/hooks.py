"""The figure of the hooks around a layer's forward and backward, in the order in which a run calls them."""

from typing import NamedTuple

import torch

from .checks import checked
from .drawing import circle, figure, group, path, rect, text
from .graph import short_name
from .layout import MARGIN, PHONE, READ, WIDE, code_width

ROW, PART = 27, 36  # height of a hook, of what runs between two hooks
FULL = "forward_pre_hook", "forward_hook", "full_backward_pre_hook", "full_backward_hook"
WRITES = "weight.register_post_accumulate_grad_hook"  # the first hook for which .grad has to be there


class Call(NamedTuple):
    """A hook that ran, and what it saw."""

    tone: int  # 1 for the layer's, 2 for a tensor's, 3 for a node's
    name: str  # of what it is registered on
    hook: str  # what follows `register_` in the name of the method
    written: bool = False  # whether weight.grad was there

    @property
    def method(self) -> str:
        return f"{self.name}.register_{self.hook}"


def hook_timeline(layer: torch.nn.Module, x: torch.Tensor, *, title: str) -> str:
    """The hooks of `layer`, of its input `x`, its result `y` and its `weight`, and of the nodes of the last two, as one
    forward and one backward of `y.sum()` call them; beside each, whether `weight.grad` was there. A box is what runs
    behind a prehook. The hooks are removed, and the gradients put back.

    Raises TypeError for what is no module or no tensor, ValueError where a hook did not run exactly once, and where the
    post-accumulate hook is not the first for which `weight.grad` is there."""
    weight = checked(getattr(checked(layer, torch.nn.Module, "layer"), "weight", None), torch.Tensor, "layer.weight")
    held = [(tensor, tensor.grad) for tensor in (checked(x, torch.Tensor, "x"), *layer.parameters())]
    registered, calls, handles = [], [], []

    def watch(tone: int, name: str, on, *hooks: str) -> None:
        for call in (Call(tone, name, hook) for hook in hooks):
            registered.append(call)
            note = lambda *_, call=call: calls.append(call._replace(written=weight.grad is not None))  # noqa: E731
            handles.append(getattr(on, f"register_{call.hook}")(note))

    try:
        for tensor, _ in held:
            tensor.grad = None
        watch(1, "layer", layer, *FULL)
        y = layer(x)
        behind, leaf = y.grad_fn.next_functions[0][0], torch.autograd.graph.get_gradient_edge(weight).node
        for name, node in (("AccumulateGrad", leaf), (short_name(behind), behind)):
            watch(3, name, node, "prehook", "hook")
        watch(2, "weight", weight, "hook", "post_accumulate_grad_hook")
        watch(2, "y", y, "hook")
        y.sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        for tensor, grad in held:
            tensor.grad = grad
    _check([call.method for call in registered], calls)
    rows = [[i, call.method, _state(call)] for i, call in enumerate(calls, 1)]
    desc = f"The hooks in the order in which they ran: {', '.join(call.method for call in calls)}."
    columns = ["runs as number", "registered by", "weight.grad"]
    return figure(*_draw(calls, True), title, desc, columns, rows, _draw(calls, False))


def _state(call: Call) -> str:
    return "written" if call.written else "None"


def _check(registered: list, calls: list) -> None:
    """Raises ValueError unless each hook ran once, and `.grad` appeared where the figure says so."""
    ran = [call.method for call in calls]
    if wrong := [method for method in registered if ran.count(method) != 1]:
        raise ValueError(f"each hook must run once, and {wrong[0]} ran {ran.count(wrong[0])} times")
    if calls[ran.index(WRITES) - 1].written or not all(call.written for call in calls[ran.index(WRITES) :]):
        raise ValueError(f"weight.grad must be there from {WRITES} on, and None before")


def _draw(calls: list, wide: bool) -> tuple:
    """The shapes, width and height."""
    y, x, left, column = MARGIN, MARGIN + 10, MARGIN + 28, 470
    shapes, ends = [], []  # ends of the lines that join the hooks of forward and those of backward
    for before, call, after in zip([None, *calls], calls, [*calls[1:], None]):
        if not before or before.hook == FULL[1]:
            shapes.append(text(MARGIN, y + 17, "backward" if before else "forward", "it-name"))
            shapes += [text(MARGIN + 90, y + 17, f"weight.grad: {_state(call)}", "it-note")] * (not wide)
            y, ends = y + 26, [*ends, y + 26 + ROW / 2, 0]
        ends[-1] = y + ROW / 2
        on = [circle(x, y + ROW / 2, 6, "it-element"), text(left, y + 18, call.name, "it-name")]
        start, said = (0, f".register_{call.hook}") if wide else (8, call.hook)
        shapes += [group(f"it-{call.tone}", *on)]
        shapes.append(text(left + code_width(call.name, READ) + start, y + 18, said, "it-value"))
        seen = text(column, y + 18, _state(call), "it-value" if call.written else "it-note")
        shapes += [seen] * wide
        y += ROW
        if call.hook in (FULL[0], "prehook"):
            writes = after.written > call.written
            runs = call.name + ".forward" * (call.hook == FULL[0]) + (" writes weight.grad" if writes else " runs")
            box = rect(left, y + 3, code_width(runs, READ) + 20, PART - 8, "it-element" if writes else "it-pill", 3)
            shapes += [group("it-1", box), text(left + 10, y + 21, runs, "it-value")]
            y += PART
    shapes += [text(column, MARGIN + 17, "weight.grad", "it-note")] * wide
    lines = [path("M", x, a, "V", b) for a, b in zip(ends[::2], ends[1::2])]
    for tone, kind in enumerate(("of a layer", "of a tensor", "of a node")):
        at = x + tone * 110
        shapes.append(group(f"it-{tone + 1}", circle(at, y + 17, 6, "it-element")))
        shapes.append(text(at + 14, y + 22, kind, "it-note"))
    return [group("it-large", group("it-3", *lines), *shapes)], WIDE if wide else PHONE, y + ROW + MARGIN
