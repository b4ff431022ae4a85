"""What the figure of all layers promises: what a run of each layer recorded, column by column, the same everywhere."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest
import torch
from test_figures import ATTRIBUTES, CSS, HOSTILE, SVG, rows_of, texts

from inside_torch.drawing.layout import PHONE, code_width
from inside_torch.figures import line_layers


def f(x, w, b):
    return (x * w + b).relu().sum()


def tensors() -> tuple:
    x, w, b = torch.arange(8.0), torch.full((8,), -0.5), torch.full((8,), 2.0)
    return x, w.requires_grad_(), b.requires_grad_()


@pytest.fixture(scope="module")
def svg() -> str:
    return line_layers(f, *tensors(), title=HOSTILE)


def test_a_cell_for_each_call_in_each_layer(svg):
    layers = {}
    for layer, holds, _ in rows_of(svg):
        layers.setdefault(layer, []).append(holds)
    assert layers["Python"] == ["mul", "add", "relu", "sum"]
    assert layers["autograd"] == ["MulBackward0", "AddBackward0", "ReluBackward0", "SumBackward0"]
    assert layers["operators"] == ["mul", "add", "relu, detach", "sum"]
    assert layers["Dynamo"] == ["mul", "add", "relu", "sum"]
    assert layers["AOT forward"][2] == "relu, threshold_backward" and layers["AOT backward"][1] == ""
    assert [name.startswith("cpp_fused_") for name in layers["Inductor"]] == [True, True]


def test_a_call_has_all_its_nodes_and_a_pass_of_inductor_none():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    loss = lambda x, target: torch.nn.functional.cross_entropy(model(x), target)  # noqa: E731
    found = rows_of(line_layers(loss, torch.randn(8, 3), torch.randint(2, (8,)), title="t"))
    assert [holds for layer, holds, _ in found if layer == "autograd"][2:] == [
        "TBackward0, AddmmBackward0",
        "LogSoftmaxBackward0, NllLossBackward0",
    ]
    assert not any("arange" in holds for layer, holds, _ in found if layer == "AOT forward")


def test_a_phone_has_a_box_for_each_layer_and_no_line_leaves_it(svg):
    narrow = ElementTree.fromstring(svg).find(SVG + "svg")
    assert float(narrow.get("width")) == PHONE
    assert len(list(narrow.iter(SVG + "rect"))) == len({row[0] for row in rows_of(svg)}) + 1  # Inductor twice
    drawn = [line for line in narrow.iter(SVG + "text") if line.get("class") == "it-value"]
    assert "2 AddBackward0" in [line.text for line in drawn] and "2 nothing" in [line.text for line in drawn]
    assert all(float(line.get("x")) + code_width(line.text, 11) < PHONE - 4 for line in drawn)


def wide(svg: str) -> ElementTree.Element:
    """The figure without its layout for a phone."""
    root = ElementTree.fromstring(svg)
    root.remove(root.find(SVG + "svg"))
    return root


def test_generated_boxes_are_dashed_and_empty_cells_have_none(svg):
    boxes = [e.get("class") for e in wide(svg).iter(SVG + "rect")]
    rows = [row for row in rows_of(svg) if row[1]]
    assert ["it-dashed" in box for box in boxes] == [bool(made) for *_, made in rows]


def test_a_kernel_spans_all_columns_and_nothing_leaves_the_figure(svg):
    root = wide(svg)
    width, height = float(root.get("width")), float(root.get("height"))
    boxes = [[float(e.get(k)) for k in ("x", "y", "width", "height")] for e in root.iter(SVG + "rect")]
    assert all(x >= 0 and y >= 0 and x + w <= width and y + h <= height for x, y, w, h in boxes)
    left, right = min(x for x, *_ in boxes), max(x + w for x, _, w, _ in boxes)
    assert sum(abs(x - left) < 0.2 and abs(x + w - right) < 0.2 for x, _, w, _ in boxes) == 2


def test_only_plain_shapes_known_classes_and_escaped_text(svg):
    root = ElementTree.fromstring(svg)
    assert svg == line_layers(f, *tensors(), title=HOSTILE)
    assert root.find(SVG + "title").text == HOSTILE and "MulBackward0" in texts(svg)
    for element in root.iter():
        assert set(element.keys()) <= ATTRIBUTES[element.tag.removeprefix(SVG)]
    drawn = {name for value in re.findall(r'class="([^"]+)"', svg) for name in value.split()}
    assert drawn <= set(re.findall(r"\.(figure|it-[\w-]+)", CSS))
    assert json.loads(root.find(SVG + "metadata").text)["columns"][0] == "layer"


def test_the_inputs_stay_as_they_are():
    x, w, b = tensors()
    line_layers(f, x, w, b, title="t")
    assert w.grad is None and b.grad is None and w.grad_fn is None and w._version == 0


@pytest.mark.parametrize(
    ("call", "error", "part"),
    [
        (lambda: line_layers(f, 1, 2, 3, title="t"), TypeError, "torch.Tensor, got int"),
        (lambda: line_layers(lambda x: x.sin(), tensors()[1], title="t"), ValueError, "one number"),
        (lambda: line_layers(lambda x: x.sum(), torch.ones(2), title="t"), ValueError, "needs a gradient"),
        (
            lambda: line_layers(lambda x: (x + 1 + 1 + 1 + 1 + 1 + 1).sum(), tensors()[1], title="t"),
            ValueError,
            "7 calls",
        ),
        (lambda: line_layers(lambda x: x.sum(), tensors()[1], title=" "), ValueError, "title"),
    ],
)
def test_what_cannot_be_drawn_raises(call, error, part):
    with pytest.raises(error, match=part):
        call()
