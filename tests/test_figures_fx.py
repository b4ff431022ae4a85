"""What the figure of captured graphs promises: the nodes and edges of the graph, safe, the same everywhere."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest
import torch
from test_figures import ATTRIBUTES, CSS, HOSTILE, SVG, rows_of, texts

from inside_torch.figures import fx_graphs


class Forward(torch.nn.Module):
    def forward(self, x):
        y = x.sin()
        z = y.cos()
        return z * x, y


class Backward(torch.nn.Module):
    def forward(self, mul, sin):
        return torch.relu(sin) + mul.sum()


def modules() -> dict:
    return {"forward": torch.fx.symbolic_trace(Forward()), HOSTILE: torch.fx.symbolic_trace(Backward())}


def test_rows_are_the_nodes_and_what_they_use():
    graphs = modules()
    rows = rows_of(fx_graphs(graphs, title="t"))
    nodes = [(label, node) for label, module in graphs.items() for node in module.graph.nodes]
    assert len(rows) == len(nodes)
    found = {(graph, name): uses for graph, name, _, uses in rows}
    for label, node in nodes:
        uses = found[label, node.name]
        assert set(filter(None, uses.split(", "))) == {other.name for other in node.all_input_nodes}


def test_every_edge_has_a_line_and_what_passes_between_graphs_one_of_its_own():
    svg = ElementTree.fromstring(fx_graphs(modules(), title="t"))
    heads = [e for e in svg.iter(SVG + "path") if e.get("class") == "it-head"]
    edges = sum(len(node.all_input_nodes) for module in modules().values() for node in module.graph.nodes)
    assert len(heads) == edges + 2  # mul and sin
    assert "mul is returned by forward and taken by" in svg.find(SVG + "desc").text


def test_an_input_stands_before_its_first_use_and_calls_keep_their_order():
    names = [name for graph, name, _, _ in rows_of(fx_graphs(modules(), title="t")) if graph == HOSTILE]
    assert names == ["sin", "relu", "mul", "sum_1", "add", "output"]


def test_a_parameter_has_its_name_in_the_model():
    found, model = [], torch.nn.Sequential(torch.nn.Sequential(torch.nn.Linear(3, 4)))
    torch.compile(model, backend=lambda graph, inputs: found.append(graph) or graph)(torch.ones(2, 3))
    assert {"0.0.weight (4, 3)", "0.0.bias (4,)"} <= set(texts(fx_graphs({"x": found[0]}, title="t")))


def test_calls_are_named_by_what_they_call():
    said = texts(fx_graphs(modules(), title="t"))
    assert {"sin = .sin", "mul", "relu", "sum_1 = .sum", "return mul, sin"} <= set(said)


def test_lines_beside_the_nodes_never_share_a_place():
    svg = ElementTree.fromstring(fx_graphs(modules(), title="t"))
    runs = [
        (float(x), float(top), float(bottom))
        for e in svg.iter(SVG + "path")
        for x, top, bottom in re.findall(r"Q [\d.]+ [\d.]+ ([\d.]+) ([\d.]+) V ([\d.]+)", e.get("d"))
    ]
    for i, (x, top, bottom) in enumerate(runs):
        for other, high, low in runs[:i]:
            assert x != other or bottom <= high or low <= top


def test_only_plain_shapes_known_classes_and_escaped_text():
    svg = fx_graphs(modules(), title=HOSTILE)
    assert svg == fx_graphs(modules(), title=HOSTILE)
    root = ElementTree.fromstring(svg)
    assert root.find(SVG + "title").text == HOSTILE and HOSTILE in texts(svg)
    for element in root.iter():
        assert set(element.keys()) <= ATTRIBUTES[element.tag.removeprefix(SVG)]
    drawn = {name for value in re.findall(r'class="([^"]+)"', svg) for name in value.split()}
    assert drawn <= set(re.findall(r"\.(figure|it-[\w-]+)", CSS))
    assert json.loads(root.find(SVG + "metadata").text)["columns"][0] == "graph"


def test_everything_is_inside_the_figure():
    root = ElementTree.fromstring(fx_graphs(modules(), title="t"))
    width, height = float(root.get("width")), float(root.get("height"))
    for e in root.iter(SVG + "rect"):
        x, y, w, h = (float(e.get(name)) for name in ("x", "y", "width", "height"))
        assert min(x, y) >= 0 and x + w <= width and y + h <= height


def long() -> torch.fx.GraphModule:
    return torch.fx.symbolic_trace(lambda x: sum([x.sin() for _ in range(20)]))


@pytest.mark.parametrize(
    ("graphs", "error", "part"),
    [
        ([1], TypeError, "dict"),
        ({}, ValueError, "1 to 3"),
        ({"x": torch.nn.Linear(1, 1)}, TypeError, "GraphModule"),
        ({" ": torch.fx.symbolic_trace(Forward())}, ValueError, "visible"),
        ({"x": long()}, ValueError, "24"),
        ({"x": torch.fx.GraphModule(torch.nn.Module(), torch.fx.Graph())}, ValueError, "output"),
    ],
)
def test_what_cannot_be_drawn_raises(graphs, error, part):
    with pytest.raises(error, match=re.escape(part)):
        fx_graphs(graphs, title="t")
