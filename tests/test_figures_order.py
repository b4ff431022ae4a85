"""What the figure of the order of execution promises: a real order, the graph left as it was, readable in words."""

import json
import xml.etree.ElementTree as ElementTree

import pytest
import torch

from inside_torch.figures import execution_order
from inside_torch.pictures import checked_figure

SVG = "{http://www.w3.org/2000/svg}"


def branches():
    """A loss of two leaves, and the names of all three."""
    x, w = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor(3.0, requires_grad=True)
    return (x.sin() * w + x.exp()).sum(), {"x": x, "w": w}


def table(svg: str) -> list:
    return json.loads(ElementTree.fromstring(svg).find(SVG + "metadata").text)["rows"]


def test_the_order_is_the_one_that_backward_takes():
    loss, names = branches()
    rows = table(execution_order(loss, names=names, title="An order"))
    nodes, ran = [loss.grad_fn], []
    for node in nodes:
        node.register_prehook(lambda _, node=node: ran.append(node.name().split("::")[-1]))
        nodes += [following for following, _ in node.next_functions if following and following not in nodes]
    loss.backward()
    assert [row[1] for row in rows] == ran
    assert [row[0] for row in rows] == list(range(1, len(ran) + 1))
    assert {row[1]: row[3] for row in rows if row[3] > 1} == {"AccumulateGrad": 2}


def test_a_changed_sequence_number_changes_the_figure():
    x = torch.ones(2, requires_grad=True)
    a, b = x.sin(), x.exp()
    loss = (a * b).sum()
    before = [row[1] for row in table(execution_order(loss, title="An order"))]
    a.grad_fn._set_sequence_nr(b.grad_fn._sequence_nr() + 1)
    after = [row[1] for row in table(execution_order(loss, title="An order"))]
    assert before.index("ExpBackward0") < before.index("SinBackward0")
    assert after.index("SinBackward0") < after.index("ExpBackward0")


def test_graph_gradients_and_hooks_are_left_alone():
    loss, names = branches()
    names["w"].grad = held = torch.tensor(7.0)
    first = execution_order(loss, names=names, title="An order")
    assert names["x"].grad is None and names["w"].grad is held and held == 7
    assert execution_order(loss, names=names, title="An order") == first
    loss.backward()
    assert names["w"].grad is held


def test_it_is_drawn_and_described():
    loss, names = branches()
    svg = checked_figure(execution_order(loss, names=names, title='x <b> & "q"'))
    said = [text.text for text in svg.iter(SVG + "text")]
    assert {"made 1st", "made 2nd", "made 3rd", "waits for 2", "x (2,)", "w ()"} <= set(said)
    assert len(list(svg.iter(SVG + "circle"))) == len([text for text in said if text.isdigit()]) == 7
    desc = svg.find(SVG + "desc").text
    assert desc.startswith("Each node carries") and "adds to the grad of x (2,), waits for 2 gradients" in desc
    width, height = float(svg.get("width")), float(svg.get("height"))
    for circle in svg.iter(SVG + "circle"):
        assert 9 < float(circle.get("cx")) < width - 9 and 9 < float(circle.get("cy")) < height - 9


def test_what_cannot_be_drawn_raises():
    with pytest.raises(TypeError, match=r"must be a torch\.Tensor"):
        execution_order(3, title="An order")
    with pytest.raises(ValueError, match="no grad_fn"):
        execution_order(torch.ones(1, requires_grad=True), title="An order")
    loss, _ = branches()
    loss.backward()
    with pytest.raises(RuntimeError, match="second time"):
        execution_order(loss, title="An order")
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(25):
        y = y.exp()
    with pytest.raises(ValueError, match="more than 24 nodes"):
        execution_order(y, title="An order")
