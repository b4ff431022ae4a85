"""The figure of the places where other libraries hook into a training program: which hook is called in which line, and
how often, counted while the program runs."""

from collections.abc import Callable
from contextlib import ExitStack
from unittest.mock import patch

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.optim.optimizer import register_optimizer_step_post_hook

from inside_torch.drawing.layout import MARGIN, code_width
from inside_torch.drawing.svg import rect, text

from .boxes import laid_out

LINE, PAD, TEXT = 18, 8, 13  # from one line of text to the next, inside a box, its size
Note = Callable[[], None]


def _register_parameter(note: Note, found: dict, stack: ExitStack) -> None:
    before = nn.Module.register_parameter
    stack.enter_context(patch.object(nn.Module, "register_parameter", lambda *args: (note(), before(*args))[1]))


def _backend(note: Note, found: dict, stack: ExitStack) -> None:
    found["backend"] = lambda graph, inputs: (note(), graph.forward)[1]


def _forward_hook(note: Note, found: dict, stack: ExitStack) -> None:
    quiet = torch.compiler.disable(note)  # Dynamo would trace the note and count it once
    for module in found["model"].modules():
        stack.callback(module.register_forward_hook(lambda *_: quiet()).remove)


def _saved(note: Note, found: dict, stack: ExitStack) -> None:
    pair = [lambda tensor: (note(), tensor)[1]] * 2
    stack.enter_context(saved_tensors_hooks(*pair))


def _grad_hook(note: Note, found: dict, stack: ExitStack) -> None:
    for parameter in found["model"].parameters():
        stack.callback(parameter.register_post_accumulate_grad_hook(lambda _: note()).remove)


def _step_hook(note: Note, found: dict, stack: ExitStack) -> None:
    stack.callback(register_optimizer_step_post_hook(lambda *_: note()).remove)


# The hook, what registers it, and before which line: a forward hook needs the model.
HOOKS = {
    "register_parameter": (_register_parameter, "seed"),
    "backend of torch.compile": (_backend, "seed"),
    "forward hook": (_forward_hook, "optimizer"),
    "saved_tensors_hooks": (_saved, "loss"),
    "post-accumulate hook": (_grad_hook, "optimizer"),
    "optimizer step hook": (_step_hook, "optimizer"),
}


def hook_points(program: dict, users: dict, *, title: str) -> str:
    """A training program as {name of a line: its code}, run once for each hook of `users`, {hook: who uses it}. Below
    the name of a line stand the hooks that were called while it ran, with the number of calls. The program makes
    `model`, and compiles it with `backend`; it has lines called seed, optimizer and loss. Raises KeyError for a hook
    that is not in HOOKS, ValueError for one that the program never calls and for names that do not fit."""
    calls = _calls(program, users)
    rows = [[line, *row] for line in program for row in calls[line]]
    if missing := [hook for hook in users if hook not in {row[1] for row in rows}]:
        raise ValueError(f"the program never calls {missing[0]}")
    desc = "Hooks called in each line. " + " ".join(f"{line}: {hook}, {n} times, {who}." for line, hook, n, who in rows)
    columns = ["line", "hook", "calls", "used by"]
    return laid_out(title, desc, columns, rows, _draw, list(program), rows, kind="it-1 it-large")


def _calls(program: dict, users: dict) -> dict:
    """For each line the rows (hook, calls, users). Each hook has a run of its own, so that none disturbs another."""
    rows = {line: [] for line in program}
    for hook, who in users.items():
        register, before = HOOKS[hook]
        found, count, calls = {"torch": torch, "nn": nn, "backend": "eager"}, dict.fromkeys(program, 0), []
        torch.compiler.reset()
        with ExitStack() as stack:
            for line, code in program.items():
                if line == before:
                    register(lambda calls=calls: calls.append(1), found, stack)
                calls.clear()
                exec(code, found)
                count[line] = len(calls)
        for line in program:
            rows[line] += [(hook, count[line], who)] * bool(count[line])
    return rows


def _draw(lines: list, rows: list, wide: bool) -> tuple:
    """The shapes, their width and height: names of lines on the left, a box for each hook on the right."""
    left = MARGIN + max(code_width(line, TEXT) for line in lines) + PAD
    names = [f"{hook} \u00d7{n}" for _, hook, n, _ in rows]
    first = max(code_width(name, TEXT) for name in names)
    second = max(code_width(who, TEXT) for *_, who in rows)
    width = first + second + 4 * PAD if wide else max(first, second) + 2 * PAD
    shapes, y = [], MARGIN
    for line in lines:
        shapes.append(text(MARGIN, y + 17, line, "it-name"))
        top, mine = y, [(name, row[3]) for name, row in zip(names, rows) if row[0] == line]
        for name, who in mine:
            high = LINE * (1 if wide else 2) + PAD
            shapes += [rect(left, y, width, high, "it-element", 4), text(left + PAD, y + 17, name, "it-name")]
            x, down = (left + PAD + first + 2 * PAD, 17) if wide else (left + PAD, 17 + LINE)
            shapes.append(text(x, y + down, who, "it-value"))
            y += high + 6
        y = max(y, top + LINE + 6)
    return shapes, left + width + MARGIN, y + MARGIN
