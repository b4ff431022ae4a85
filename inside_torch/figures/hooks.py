"""Backward as it runs: the order of its nodes, and the figure of the hooks around a layer, in the order in which a run
calls them."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import torch

from inside_torch.drawing.checks import checked
from inside_torch.drawing.layout import MARGIN, PHONE, READ, WIDE, code_width
from inside_torch.drawing.svg import circle, group, path, rect, text

from .boxes import laid_out
from .graph import short_name

ROW, PART = 27, 36  # height of a hook, of what runs between two hooks
FULL = "forward_pre_hook", "forward_hook", "full_backward_pre_hook", "full_backward_hook"
WRITES = "weight.register_post_accumulate_grad_hook"  # the first hook for which .grad has to be there


@contextmanager
def watched(tensors: Iterable[torch.Tensor]) -> Iterator[ExitStack]:
    """The tensors without gradients, and a stack for hooks; in the end the gradients are back and the hooks gone."""
    held = [(tensor, tensor.grad) for tensor in tensors]
    with ExitStack() as hooks:
        for tensor, grad in held:
            hooks.callback(setattr, tensor, "grad", grad)
            tensor.grad = None
        yield hooks


def recorded(tensor: torch.Tensor, nodes: list) -> list:
    """The nodes in the order in which a backward from the tensor runs them; it retains the graph. Raises ValueError
    unless each node runs once."""
    ran = []
    with watched(node.variable for node in nodes if hasattr(node, "variable")) as hooks:
        for node in nodes:
            hooks.enter_context(node.register_prehook(lambda _, node=node: ran.append(node)))
        # A gradient that is given makes torch import sympy, which takes half a second.
        tensor.backward(None if tensor.numel() == 1 else torch.ones_like(tensor), retain_graph=True)
    if len(ran) != len(nodes) or set(ran) != set(nodes):
        raise ValueError(f"each of {len(nodes)} nodes must run once, and {len(ran)} ran")
    return ran


class Call(NamedTuple):
    """A hook that ran, and what it saw."""

    tone: int  # 1 for the layer's, 2 for a tensor's, 3 for a node's
    name: str  # of what it is registered on
    hook: str  # what follows `register_` in the name of the method
    grad: str = "None"  # or "written": whether weight.grad was there

    @property
    def method(self) -> str:
        return f"{self.name}.register_{self.hook}"


def hook_timeline(layer: torch.nn.Module, x: torch.Tensor, *, title: str) -> str:
    """The hooks of `layer`, of its input `x`, its result `y` and its `weight`, and of the nodes from the result to the
    weight, as one forward and one backward of `y.sum()` call them; beside each, whether `weight.grad` was there. A box
    is what runs behind a prehook. The hooks are removed, and the gradients put back. Raises TypeError for what is no
    module or no tensor, ValueError where a hook did not run exactly once, and where the post-accumulate hook is not the
    first for which `weight.grad` is there."""
    weight = checked(getattr(checked(layer, torch.nn.Module, "layer"), "weight", None), torch.Tensor, "layer.weight")
    registered, calls = [], []

    def seen() -> str:
        return "None" if weight.grad is None else "written"

    def watch(tone: int, name: str, on, *kinds: str) -> None:
        for call in (Call(tone, name, hook) for hook in kinds):
            registered.append(call.method)
            note = lambda *_, call=call: calls.append(call._replace(grad=seen()))  # noqa: E731
            hooks.enter_context(getattr(on, f"register_{call.hook}")(note))

    with watched([checked(x, torch.Tensor, "x"), *layer.parameters()]) as hooks:
        watch(1, "layer", layer, *FULL)
        y = layer(x)
        behind, leaf = y.grad_fn.next_functions[0][0], torch.autograd.graph.get_gradient_edge(weight).node
        between = [n for n, _ in behind.next_functions if n and (leaf, 0) in n.next_functions]  # TBackward0 of a Linear
        for node in (leaf, *between, behind):
            watch(3, short_name(node), node, "prehook", "hook")
        watch(2, "weight", weight, "hook", "post_accumulate_grad_hook")
        watch(2, "y", y, "hook")
        y.sum().backward()
    _check(registered, calls)
    rows = [[i, call.method, call.grad] for i, call in enumerate(calls, 1)]
    desc = f"The hooks in the order in which they ran: {', '.join(call.method for call in calls)}."
    columns = ["runs as number", "registered by", "weight.grad"]
    return laid_out(title, desc, columns, rows, _draw, calls)


def _check(registered: list, calls: list) -> None:
    """Raises ValueError unless each hook ran once, and `.grad` appeared where the figure says so."""
    ran = [call.method for call in calls]
    if wrong := [method for method in registered if ran.count(method) != 1]:
        raise ValueError(f"each hook must run once, and {wrong[0]} ran {ran.count(wrong[0])} times")
    first, there = ran.index(WRITES), [call.grad == "written" for call in calls]
    if any(there[:first]) or not all(there[first:]):
        raise ValueError(f"weight.grad must be there from {WRITES} on, and None before")


def _draw(calls: list, wide: bool) -> tuple:
    y, x, left, column = MARGIN, MARGIN + 10, MARGIN + 28, 470
    shapes, ends = [], []  # ends of the lines that join the hooks of forward and those of backward
    for before, call, after in zip([None, *calls], calls, [*calls[1:], None]):
        if not before or before.hook == FULL[1]:
            shapes.append(text(MARGIN, y + 17, "backward" if before else "forward", "it-name"))
            shapes += [text(MARGIN + 90, y + 17, f"weight.grad: {call.grad}", "it-note")] * (not wide)
            y, ends = y + 26, [*ends, y + 26 + ROW / 2, 0]
        ends[-1] = y + ROW / 2
        on = [circle(x, y + ROW / 2, 6, "it-element"), text(left, y + 18, call.name, "it-name")]
        start, said = (0, f".register_{call.hook}") if wide else (8, call.hook)
        shapes += [group(f"it-{call.tone}", *on)]
        shapes.append(text(left + code_width(call.name, READ) + start, y + 18, said, "it-value"))
        seen = text(column, y + 18, call.grad, "it-value" if call.grad == "written" else "it-note")
        shapes += [seen] * wide
        y += ROW
        if call.hook in (FULL[0], "prehook"):
            writes = after.grad != call.grad
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
    return [group("it-3", *lines), *shapes], WIDE if wide else PHONE, y + ROW + MARGIN
