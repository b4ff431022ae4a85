"""What the figure of the ready queue promises: the queue as the engine had it, in two layouts, nothing cut."""

import pytest
import torch
from test_figures import SVG, rows_of
from torch import nn

from inside_torch.drawing.layout import PHONE, READ, WIDE, code_width
from inside_torch.figures import ready_queue
from inside_torch.render.figures import checked_figure


def network() -> tuple:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    return model(torch.randn(8, 3)).mean(), dict(model.named_parameters())


def test_rows_are_the_nodes_as_backward_ran_them_with_those_that_waited():
    loss, names = network()
    found, ran, nodes = rows_of(ready_queue(loss, names=names, title="Queue")), [], [loss.grad_fn]
    for node in nodes:
        nodes += [following for following, _ in node.next_functions if following and following not in nodes]
        leaf = [name for name, p in names.items() if p is getattr(node, "variable", None)]
        said = " ".join([node.name().split("::")[-1], *leaf])
        node.register_prehook(lambda _, said=said: ran.append(said))
    loss.backward()
    assert [row[1] for row in found] == ran and [row[0] for row in found] == list(range(1, len(ran) + 1))
    numbered = [int(row[2]) for row in found if row[2] != "max"]
    assert numbered == list(reversed(range(len(numbered))))
    assert {row[1].partition(" ")[0] for row in found if row[2] == "max"} == {"AccumulateGrad"}
    assert [row[3] for row in found[2:6]] == [
        "TBackward0 (3), ReluBackward0 (2)",
        "ReluBackward0 (2)",
        "ReluBackward0 (2)",
        "",
    ]


def test_gradients_are_left_alone_and_a_node_waits_for_both_of_its_gradients():
    x = torch.ones(2, requires_grad=True)
    x.grad = held = torch.full((2,), 7.0)
    y = x * 2
    total = (y.exp() + y.sin()).sum()
    first = ready_queue(total, names={"x": x}, title="Queue")
    assert x.grad is held and held.tolist() == [7.0, 7.0]
    assert ready_queue(total, names={"x": x}, title="Queue") == first
    assert [row[1:] for row in rows_of(first)][2:] == [
        ["SinBackward0", "2", "ExpBackward0 (1)"],
        ["ExpBackward0", "1", ""],
        ["MulBackward0", "0", ""],
        ["AccumulateGrad x", "max", ""],
    ]


def test_both_layouts_show_each_queue_and_cut_nothing():
    loss, names = network()
    printed = ready_queue(loss, names=names, title="Queue")
    svg = checked_figure(printed)
    narrow = svg.find(SVG + "svg")
    svg.remove(narrow)
    pills = sum(1 + len(row[3].split(", ")) * bool(row[3]) for row in rows_of(printed))
    for one, width in ((svg, WIDE), (narrow, PHONE)):
        kinds = [rect.get("class") for rect in one.iter(SVG + "rect")]
        assert len(kinds) == pills and kinds.count("it-element") == len(rows_of(printed))
        for rect in one.iter(SVG + "rect"):
            assert float(rect.get("x")) + float(rect.get("width")) <= width
        for text in (text for text in one.iter(SVG + "text") if text.get("text-anchor") == "start"):
            assert float(text.get("x")) + code_width(text.text, READ) <= width, text.text


def test_where_the_rule_gives_no_order_there_is_no_figure():
    weights = [torch.ones(1, requires_grad=True) for _ in range(2)]
    with pytest.raises(ValueError, match="AccumulateGrad is not alone at the head"):
        ready_queue(torch.cat(weights).sum(), title="Queue")
    x = torch.ones(2, requires_grad=True)
    a, b = x.exp(), x.sin()
    total = (a * b).sum()
    b.grad_fn._set_sequence_nr(a.grad_fn._sequence_nr())
    with pytest.raises(ValueError, match="is not alone at the head"):
        ready_queue(total, title="Queue")
    with pytest.raises(ValueError, match="no grad_fn"):
        ready_queue(torch.ones(1), title="Queue")
