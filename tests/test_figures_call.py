"""What the figures of one call and of a compiled function promise: what the dispatcher and a run of torch say."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
import torch
from test_figures import ATTRIBUTES, CSS, HOSTILE, SVG, rows_of, texts
from torch import nn

from inside_torch.figures import call_path, compile_path

steps = 0


def tensors() -> list:
    torch.manual_seed(0)
    return [torch.randn(8, 3), torch.randn(4, 3, requires_grad=True), torch.zeros(4, requires_grad=True)]


def dot(x, w, b):
    return ((x @ w.t() + b).relu() * 2).sum()


def counts(x, w, b):
    """Another graph with every call: what it multiplies by is a global that it changes."""
    global steps
    steps += 1
    return (w * steps).sum()


@pytest.fixture(scope="module")
def compiled() -> str:
    return compile_path(dot, *tensors(), title=HOSTILE)


def test_the_way_down_is_the_dispatchers_and_the_way_back_the_nodes():
    rows = rows_of(call_path(nn.functional.linear, *tensors(), title="t"))
    table = torch._C._dispatch_dump_table("aten::addmm")
    assert [row[0] for row in rows] == ["Python", "AutogradCPU", "ADInplaceOrView", "CPU"]
    assert rows[0][1:] == ["linear", "backward()"] and rows[1][2] == "AddmmBackward0"
    for key, down, _ in rows[1:]:
        (entry,) = re.findall(rf"^{key}: (.*)$", table, re.M)
        assert "fallthrough" in entry if down == "falls through" else down.split()[1] in entry
    assert set(rows[3][2].split()) >= {"aten.mm", "aten.sum"}
    assert rows_of(call_path(torch.exp, tensors()[1], title="t"))[1][2] == "ExpBackward0"


def test_an_in_place_call_does_not_fall_through():
    rows = rows_of(call_path(lambda w: w.view(12), tensors()[1], title="t"))
    assert rows[2][1].startswith("aten.view ADInplaceOrView")


@pytest.mark.parametrize(
    ("call", "error", "part"),
    [
        (lambda: call_path(torch.exp, 3, title="t"), TypeError, "torch.Tensor, got int"),
        (lambda: call_path(lambda w: w.exp().sum(), tensors()[1], title="t"), ValueError, "one call of torch"),
        (lambda: call_path(lambda w: w, tensors()[1], title="t"), ValueError, "one call of torch"),
        (lambda: call_path(torch.exp, tensors()[0], title="t"), ValueError, "a tensor with a node"),
        (
            lambda: call_path(torch.exp, torch.ones(2, device="meta", requires_grad=True), title="t"),
            ValueError,
            "this call has",
        ),
        (lambda: compile_path(dot, 1, 2, 3, title="t"), TypeError, "torch.Tensor, got int"),
        (lambda: compile_path(counts, *tensors(), title="t"), ValueError, "one entry and one hit"),
    ],
)
def test_what_disagrees_with_the_figure_raises(call, error, part):
    with pytest.raises(error, match=part):
        call()


def test_the_stages_hold_what_was_counted(compiled):
    rows = {name: said for name, said, _ in rows_of(compiled)}
    graphs = []
    torch.compile(dot, backend=lambda graph, _: graphs.append(graph) or graph)(*tensors())
    calls = [node for node in graphs[0].graph.nodes if node.op.startswith("call")]
    assert rows["Dynamo"] == f"graph of {len(calls)} calls"
    assert rows["call"] == "dot(x, w, b)" and int(rows["guards"].split()[0]) > 10
    for way, label in (("forward", "forward"), ("backward", "later, back")):
        names = [name for stage, name, _ in rows_of(compiled) if stage == f"kernel of the {way}"]
        (said,) = re.findall(rf"\b{label}: ((?:\d+ \w+(?:, )?)+)", rows["Inductor"])
        counted = {word: int(count) for count, word in re.findall(r"(\d+) (written|called)", said)}
        for begins, word in (("cpp_fused", "written"), ("extern_kernels", "called")):
            assert counted.get(word, 0) == sum(name.startswith(begins) for name in names)
        assert sum(counted.values()) == len(names) > 0


def test_a_hit_passes_three_stages_and_both_ways_look_different(compiled):
    assert [row[0] for row in rows_of(compiled)[:6] if "hit" in row[2]] == ["call", "guards", "cache entry"]
    ways = {group.get("class") for group in ElementTree.fromstring(compiled)[-1] if group.tag == f"{SVG}g"}
    assert ways == {"it-1", "it-2"} and {"hit", "miss"} <= set(texts(compiled))


def test_both_are_plain_stable_and_fit_a_phone(compiled):
    for svg in (compiled, call_path(nn.functional.linear, *tensors(), title=HOSTILE)):
        root = ElementTree.fromstring(svg)
        assert float(root.get("width")) <= 328
        for element in root.iter():
            assert set(element.keys()) <= ATTRIBUTES[element.tag.removeprefix(SVG)]
        drawn = {name for value in re.findall(r'class="([^"]+)"', svg) for name in value.split()}
        assert drawn <= set(re.findall(r"\.(figure|it-[\w-]+)", CSS))
    assert compiled == compile_path(dot, *tensors(), title=HOSTILE)
