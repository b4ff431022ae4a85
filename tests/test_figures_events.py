"""The figure of a profiled step pairs operators and nodes as autograd and the trace of the profiler do."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from test_figures import SVG, rows_of
from torch.profiler import profile, record_function

from inside_torch.figures import event_pairs
from inside_torch.render.figures import checked_figure, figure_html

X, TARGET = torch.ones(8, 3), torch.zeros(8, dtype=torch.int64)
MODEL = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))


def loss() -> torch.Tensor:
    return torch.nn.functional.cross_entropy(MODEL(X), TARGET)


def profiled(program: Callable[[], object], **settings) -> profile:
    with profile(**settings) as prof:
        program()
    return prof


def numbers(node: torch.autograd.graph.Node) -> dict[int, str]:
    """The nodes of a graph by sequence number, without those of the leaves."""
    found = {} if "AccumulateGrad" in node.name() else {node._sequence_nr(): node.name()}
    for one, _ in node.next_functions:
        found |= numbers(one) if one else {}
    return found


def test_the_pairs_are_those_of_the_trace_and_of_the_graph(tmp_path: Path):
    made = {}

    def step():
        value = loss()
        made.update(numbers(value.grad_fn))
        value.backward()

    prof = profiled(step)
    rows = rows_of(event_pairs(prof, title="t"))
    first = min(made)
    assert {number + first: node for _, _, number, node in rows if node} == made
    prof.export_chrome_trace(str(tmp_path / "t.json"))
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    begin = {one["ts"]: one for one in events if one.get("cat") == "cpu_op"}
    starts, ends = (
        {one["id"]: begin[one["ts"]]["name"] for one in events if (one.get("cat"), one["ph"]) == ("fwdbwd", way)}
        for way in "sf"
    )
    linked = sorted((name.removeprefix("aten::"), ends[i]) for i, name in starts.items())
    assert sorted((name, node) for name, _, _, node in rows if node) == linked
    nested = {name: depth for name, depth, *_ in rows}
    assert nested["linear"] == 0 and nested["addmm"] == 1 and nested["nll_loss_forward"] == 3


@pytest.mark.parametrize("settings", [{}, {"with_stack": True}, {"record_shapes": True}])
def test_what_lies_around_an_event_does_not_change_the_figure(settings):
    plain = rows_of(event_pairs(profiled(lambda: loss().backward()), title="t"))

    def step():
        with record_function("forward"):
            value = loss()
        with record_function("backward"):
            value.backward()

    svg = event_pairs(profiled(step, **settings), title="t")
    assert rows_of(svg) == plain
    both = ElementTree.fromstring(svg)
    drawn = [one.get("class") for one in both.iter(f"{SVG}rect")]
    nodes = sum(bool(node) for *_, node in plain)
    assert drawn.count("it-element") == drawn.count("it-pill") == 2 * nodes  # once for each layout
    assert drawn.count("it-tab") == 2 * (len(plain) - nodes)
    figure_html(checked_figure(svg), "")


def test_what_cannot_be_drawn_is_refused():
    value = loss()
    deep = torch.nn.Sequential(*(torch.nn.Linear(3, 3) for _ in range(10)))
    with pytest.raises(TypeError, match="prof must be a"):
        event_pairs([], title="t")
    with pytest.raises(ValueError, match="no node of backward"):
        event_pairs(profiled(loss), title="t")
    with pytest.raises(ValueError, match="no operator of forward was recorded for NllLossBackward0"):
        event_pairs(profiled(value.backward), title="t")
    with pytest.raises(ValueError, match="last number first"):
        event_pairs(profiled(lambda: [one.backward() for one in (loss(), loss())]), title="t")
    with pytest.raises(ValueError, match="24 events with a number can be drawn, got 31"):
        event_pairs(profiled(lambda: deep(X).sum().backward()), title="t")
    with pytest.raises(ValueError, match="too long"):
        event_pairs(profiled(lambda: enlarged().sum().backward()), title="t")


def enlarged() -> torch.Tensor:
    x = torch.ones(1, 1, 8, 8, requires_grad=True)
    return torch.nn.functional.interpolate(x, scale_factor=2, mode="bicubic")
