"""The figure of a custom operator: which of its functions each use of it calls, counted while the use runs."""

from collections.abc import Callable
from functools import wraps

import torch
from torch._dynamo.backends.debugging import aot_eager

from inside_torch.drawing.checks import checked

from .boxes import DASH, laid_out, tally

PIECES = ("kernel", "fake", "setup", "backward")


def operator_uses(name: str, pieces: dict, x: torch.Tensor, *, title: str) -> str:
    """A row for each of seven uses of an operator of one tensor, a column for each of its four functions, and in a cell
    how often the use called the function. Two of the rows are the stages of compiling it, Dynamo and AOTAutograd.

    `pieces` has the functions: kernel, fake, setup and backward. They are registered as the custom operator
    `name`, each inside a counter, and the uses run on `x`, one after another. Raises TypeError for what is no function
    and no tensor, ValueError for other pieces, for one that no use calls, for a stage that calls the kernel, for a call
    of the compiled operator that calls more than the kernel, for its backward that calls any, and for a name that does
    not fit; RuntimeError for a name that is taken."""
    if tuple(checked(pieces, dict, "pieces")) != PIECES:
        raise ValueError(f"the pieces are {', '.join(PIECES)}, got {', '.join(map(str, pieces))}")
    for piece, one in pieces.items():
        checked(one, Callable, piece)
    called: list[str] = []
    uses = _uses(name, _registered(name, pieces, called), checked(x, torch.Tensor, "x").detach(), called)
    rows = [[use, *map(told.count, PIECES)] for use, told in uses.items()]
    if unused := [piece for i, piece in enumerate(PIECES, 1) if not any(row[i] for row in rows)]:
        raise ValueError(f"no use calls {', '.join(unused)}")
    if rows[3][1] or rows[4][1] or any(rows[5][2:]) or any(rows[6][1:]):
        raise ValueError(f"drawn are stages without the kernel, then the kernel alone, then none: {rows[3:7]}")
    said = [f"{use}: {', '.join(f'{p} {n}' for p, n in zip(PIECES, counts) if n) or 'none'}." for use, *counts in rows]
    shown = [[use, *(str(count or DASH) for count in counts)] for use, *counts in rows]
    desc = "Calls of each function. " + " ".join(said)
    return laid_out(title, desc, ["use", *PIECES], rows, tally, PIECES, shown, (40, 80), kind="it-1 it-large")


def _registered(name: str, pieces: dict, called: list) -> torch.library.CustomOpDef:
    """The custom operator of the pieces; each notes its own name in `called`."""
    if name in torch._C._dispatch_get_all_op_names():
        raise RuntimeError(f"there is an operator {name} already")

    def counted(piece):
        @wraps(pieces[piece])
        def function(*args, **kwargs):
            called.append(piece)
            return pieces[piece](*args, **kwargs)

        return function

    operator = torch.library.custom_op(name, counted("kernel"), mutates_args=(), schema="(Tensor x) -> Tensor")
    operator.register_fake(counted("fake"))
    operator.register_autograd(counted("backward"), setup_context=counted("setup"))
    return operator


def _uses(name: str, operator, x: torch.Tensor, called: list) -> dict:
    """What is drawn of each use, and the functions that it called, in order."""
    said, w, kept, seen = name.split("::")[1], x.clone().requires_grad_(), [], []

    def told(run):
        called.clear()
        kept.append(run())
        return called.copy()

    def backend(graph, example_inputs):
        seen.append(len(called))
        ready = aot_eager(graph, example_inputs)
        seen.append(len(called))
        return ready

    uses = {
        f"{said}(x)": told(lambda: operator(x)),
        f"{said}(w), w requires grad": told(lambda: operator(w).sum()),
        "backward()": told(lambda: kept[-1].backward()),
    }
    first = told(lambda: torch.compile(operator, backend=backend)(w).sum())
    dynamo, ready = seen
    return uses | {
        f"compile {said}(w): Dynamo": first[:dynamo],
        f"compile {said}(w): AOTAutograd": first[dynamo:ready],
        "compiled(w)": first[ready:],
        "backward() of that call": told(lambda: kept[-1].backward()),
    }
