"""What the figure of one call through all layers promises: what a run of each layer recorded, the same everywhere."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest
import torch
from test_figures import ATTRIBUTES, CSS, HOSTILE, SVG, rows_of, texts

from inside_torch.drawing.layout import PHONE, code_width
from inside_torch.figures import line_layers

torch.manual_seed(0)
MODEL = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))


def f(x, target):
    return torch.nn.functional.cross_entropy(MODEL(x), target)


def tensors() -> tuple:
    return torch.ones(8, 3), torch.zeros(8, dtype=torch.long)


@pytest.fixture(scope="module")
def svg() -> str:
    return line_layers(f, *tensors(), call="relu", title=HOSTILE)


def floors(svg: str) -> list:
    """What the figure says of each floor, without the heading of its column."""
    return [row[1:] for row in rows_of(svg)]


def test_a_row_for_each_layer_with_what_it_holds_of_the_call(svg):
    assert floors(svg) == [
        ["Python", "relu"],
        ["dispatcher", "AutogradCPU, CPU"],
        ["autograd", torch.relu(torch.ones(1, requires_grad=True)).grad_fn.name()],
        ["kernel", "of aten::relu, calls aten::clamp_min"],
        ["Dynamo", "relu"],
        ["AOTAutograd", "forward: aten.relu, backward: aten.le, aten.where"],
        ["Inductor", "cpp_fused_relu_0, std::max(tmp0, decltype(tmp0)(0))"],
        ["machine code", "kernel(float*)"],
        ["Dynamo", "guards: 6 tensors"],
        ["AOTAutograd", "CompiledFunctionBackward"],
        ["Inductor", "\u2013"],
        ["machine code", "kernel(float*)"],
    ]


def test_the_columns_are_the_two_ways_down_and_what_is_left_of_the_second(svg):
    heads = [row[0] for row in rows_of(svg)]
    assert list(map(heads.count, dict.fromkeys(heads))) == [4, 4, 4]
    tops = {e.text: (float(e.get("x")), float(e.get("y"))) for e in wide(svg).iter(SVG + "text") if e.text in heads}
    assert len({y for _, y in tops.values()}) == 1 and [*tops] == sorted(tops, key=tops.get)
    narrow = ElementTree.fromstring(svg).find(SVG + "svg")
    drawn = [(float(e.get("y")), e.text) for e in narrow.iter(SVG + "text")]
    names = [
        said for head in dict.fromkeys(heads) for said in (head, *(row[1] for row in rows_of(svg) if row[0] == head))
    ]
    assert [said for _, said in sorted(drawn) if said in names] == names, "on a phone one below the other"


def test_another_call_has_other_layers():
    g = lambda x: (x.sin() @ x).sum()  # noqa: E731
    found = dict(floors(line_layers(g, torch.ones(4, 4, requires_grad=True), call="sin", title="t"))[:8])
    assert found["autograd"] == "SinBackward0" and found["kernel"].startswith("of aten::sin")
    assert "std::sin" in found["Inductor"] and found["AOTAutograd"] == "forward: aten.sin, backward: aten.cos, aten.mul"


def test_a_phone_has_a_box_for_each_layer_and_nothing_leaves_it(svg):
    narrow = ElementTree.fromstring(svg).find(SVG + "svg")
    assert float(narrow.get("width")) == PHONE
    assert len(list(narrow.iter(SVG + "rect"))) == len(rows_of(svg))
    for line in narrow.iter(SVG + "text"):
        half = code_width(line.text, 11) * (0.5 if line.get("text-anchor") == "middle" else 1)
        assert float(line.get("x")) + half < PHONE - 4


def wide(svg: str) -> ElementTree.Element:
    """The figure without its layout for a phone."""
    root = ElementTree.fromstring(svg)
    root.remove(root.find(SVG + "svg"))
    return root


def test_each_floor_has_a_box_and_nothing_leaves_the_figure(svg):
    root = wide(svg)
    width, height = float(root.get("width")), float(root.get("height"))
    boxes = list(root.iter(SVG + "rect"))
    assert len(boxes) == len(rows_of(svg))
    for x, y, w, h in ([float(box.get(k)) for k in ("x", "y", "width", "height")] for box in boxes):
        assert x >= 0 and y >= 0 and x + w <= width and y + h <= height


def test_only_plain_shapes_known_classes_and_escaped_text(svg):
    root = ElementTree.fromstring(svg)
    assert svg == line_layers(f, *tensors(), call="relu", title=HOSTILE)
    assert root.find(SVG + "title").text == HOSTILE and "ReluBackward0" in texts(svg)
    for element in root.iter():
        assert set(element.keys()) <= ATTRIBUTES[element.tag.removeprefix(SVG)]
    drawn = {name for value in re.findall(r'class="([^"]+)"', svg) for name in value.split()}
    assert drawn <= set(re.findall(r"\.(figure|it-[\w-]+)", CSS))
    assert json.loads(root.find(SVG + "metadata").text)["columns"] == ["call", "floor", "holds"]


def test_the_inputs_stay_as_they_are():
    x = torch.ones(4, 4, requires_grad=True)
    line_layers(lambda x: (x.sin() @ x).sum(), x, call="sin", title="t")
    assert x.grad is None and x.grad_fn is None and x._version == 0


@pytest.mark.parametrize(
    ("call", "error", "part"),
    [
        (lambda: line_layers(f, 1, 2, call="relu", title="t"), TypeError, "torch.Tensor, got int"),
        (lambda: line_layers(torch.sin, torch.ones(2).requires_grad_(), call="sin", title="t"), ValueError, "one num"),
        (lambda: line_layers(torch.sum, torch.ones(2), call="sum", title="t"), ValueError, "needs a gradient"),
        (lambda: line_layers(f, *tensors(), call="tanh", title="t"), ValueError, "no call of tanh"),
        (lambda: line_layers(f, *tensors(), call="linear", title="t"), ValueError, "no function for linear"),
        (lambda: line_layers(f, *tensors(), call="relu", title=" "), ValueError, "title"),
    ],
)
def test_what_cannot_be_drawn_raises(call, error, part):
    with pytest.raises(error, match=part):
        call()
