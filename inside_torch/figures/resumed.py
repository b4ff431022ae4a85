"""The figure of the frames of a call with graph breaks, read from the bytecode that Dynamo wrote."""

import dis
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import NamedTuple

import torch
from torch._dynamo.eval_frame import _debug_get_cache_entry_list

from inside_torch.drawing.checks import checked
from inside_torch.drawing.layout import MARGIN
from inside_torch.drawing.svg import arrow, arrow_down, group

from .boxes import Box, grid, laid_out

MOST = 6  # more frames do not fit a page
STEP = 40  # a resume function stands so far to the right of what it follows
WAITS = "not compiled yet"


class Frame(NamedTuple):
    """A function, the calls in its graph, what Python does at its break, and the resume functions that follow."""

    name: str
    calls: str
    python: str
    following: list


def resume_frames(f: FunctionType, *inputs, title: str) -> str:
    """`f(*inputs)`, compiled: the calls in the graph of its frame, what Python does where the graph breaks, and below,
    a step to the right, each resume function that the new bytecode names, with its own graph or the words that it is
    not compiled yet. Raises TypeError where f is no function, ValueError where f was compiled before, where no graph
    breaks or no frame is compiled, and for more than 6 frames."""
    if _debug_get_cache_entry_list(checked(f, FunctionType, "f").__code__):
        raise ValueError(f"{f.__name__} was compiled before: call torch.compiler.reset() first")
    graphs = []

    def backend(module, _):
        calls = [node.target for node in module.graph.nodes if node.op.startswith("call_")]
        graphs.append(", ".join(getattr(target, "__name__", str(target)) for target in calls))
        return module

    with torch._dynamo.config.patch(record_runtime_overhead=False):
        torch.compile(f, backend=backend)(*inputs)
    frame = _read(f, f.__name__, iter(graphs))
    if not frame.following:
        raise ValueError(f"no graph of {f.__name__} breaks, or its frame is not compiled")
    if len(rows := list(_rows(frame))) > MOST:
        raise ValueError(f"{f.__name__} has {len(rows)} frames, and at most {MOST} can be drawn")
    desc = [f"{name}: {calls}{', then Python: ' * bool(python)}{python}." for name, calls, python in rows]
    return laid_out(title, " ".join(desc), ["frame", "calls in its graph", "then Python"], rows, _drawn, frame)


def _read(f: FunctionType, name: str, graphs: Iterator[str]) -> Frame:
    """The frame of f. One that was called has an entry with bytecode, and the next of the graphs."""
    entries = _debug_get_cache_entry_list(f.__code__)
    if not entries:
        return Frame(name, WAITS, "", [])
    calls, python, names = _steps(entries[0].code, graphs)
    return Frame(name, calls, python, [_read(f.__globals__[one], "resume function", graphs) for one in names])


def _steps(code: CodeType, graphs: Iterator[str]) -> tuple:
    """What Dynamo's bytecode does: the calls in its graph, what Python does after it, the names of what follows."""
    calls, python, names = "no calls", "", []
    for step in dis.get_instructions(code):
        said = str(step.argval)
        if said.startswith("__compiled_fn"):
            calls = next(graphs)
        elif said.startswith("__resume"):
            names.append(said)
        elif "POP_JUMP" in step.opname:
            python = python or "if"
        elif step.opname in ("LOAD_GLOBAL", "LOAD_ATTR", "LOAD_METHOD", "LOAD_CONST") and said.isidentifier():
            python = python or said * (isinstance(step.argval, str) and not said.startswith("__"))
    return calls, python * bool(names), names


def _rows(frame: Frame) -> Iterator[list]:
    """Name, calls and Python's step of a frame and of all that follow it."""
    yield [frame.name, frame.calls, frame.python]
    for one in frame.following:
        yield from _rows(one)


def _drawn(frame: Frame, _wide: bool) -> list:
    """The frames from top to bottom, each to the right of the one it follows."""
    return _placed(frame, MARGIN, MARGIN)[0]


def _placed(frame: Frame, left: float, top: float) -> tuple:
    """The shapes of a frame and of all that follow it, the place of its first box, and where the next one begins."""
    calls, look = (WAITS, "it-pill it-dashed") if frame.calls == WAITS else (f"graph: {frame.calls}", "it-pill")
    boxes = [[Box([frame.name, calls], look, frame.name)]]
    boxes += [[Box([f"Python: {frame.python}"], "it-pill", tone="it-3")]] if frame.following else []
    shapes, at = grid(boxes, left, top)
    first, last = at[0, 0], at[len(boxes) - 1, 0]
    shapes += [group("it-3", *arrow_down(first.middle, first.low + 1, last.y))] if frame.following else []
    below = last.low + 16
    for one in frame.following:
        inner, place, below = _placed(one, left + STEP, below)
        way = arrow(place.x, place.level, "right", "M", left + STEP / 2, last.low + 1, "V", place.level)
        shapes += [group("it-2", *way), *inner]
    return shapes, first, below
