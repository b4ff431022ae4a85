"""What the figure of a program and its graph promises: lines and nodes as they ran, in two layouts, nothing cut."""

import pytest
import torch
from test_figures import SVG, rows_of
from torch import nn

from inside_torch.drawing.layout import PHONE, READ, WIDE, code_width
from inside_torch.figures import program_graph
from inside_torch.render.figures import checked_figure, figure_html
from inside_torch.take.figures import as_picture

PROGRAM = "h = model[0](x)\nr = model[1](h)\nloss = model[2](r).mean()"


def network() -> dict:
    torch.manual_seed(0)
    return {"model": nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), "x": torch.randn(8, 3)}


def drawn(given: dict, program: str = PROGRAM, **named) -> str:
    return program_graph(program, given, title="A program", **named)


def test_each_node_stands_beside_the_line_that_made_it_in_the_order_of_backward():
    given = network()
    names = dict(given["model"].named_parameters())
    counter = torch._C._autograd._get_sequence_nr
    made, ran, known = {}, [], dict(given)
    for line in PROGRAM.splitlines():
        before = counter()
        exec(line, known)
        made |= dict.fromkeys(range(before, counter()), line)
    nodes = [known["loss"].grad_fn]
    for node in nodes:
        nodes += [following for following, _ in node.next_functions if following and following not in nodes]
        node.register_prehook(lambda _, node=node: ran.append(node))
    known["loss"].backward()
    ran, found = list(ran), rows_of(drawn(given, names=names))  # the same accumulators run again
    assert [row[1] for row in found] == [node.name().split("::")[-1] for node in ran]
    for (_, _, line, leaf), node in zip(found, ran):
        assert line == made.get(node._sequence_nr(), line)
        assert leaf.split(" ")[0] == next((n for n, p in names.items() if p is getattr(node, "variable", 0)), "")
    assert [row[2] for row in found if row[3].startswith("0.")] == [PROGRAM.splitlines()[0]] * 2


def test_every_text_ends_within_the_drawing():
    svg = checked_figure(drawn(network()))
    narrow = svg.find(SVG + "svg")
    svg.remove(narrow)
    for one, width in ((svg, WIDE), (narrow, PHONE)):
        texts = [text for text in one.iter(SVG + "text") if text.get("text-anchor") == "start"]
        assert texts and all(float(text.get("x")) + code_width(text.text, READ) < width for text in texts)


def test_gradients_and_hooks_are_left_alone():
    given = network()
    bias = given["model"][0].bias
    bias.grad = held = torch.full((4,), 7.0)
    first = drawn(given)
    assert bias.grad is held and held.tolist() == [7.0] * 4 and given["model"][2].bias.grad is None
    assert drawn(given) == first and "loss" not in given


def test_a_line_and_its_nodes_are_one_group_that_can_be_reached():
    svg = checked_figure(drawn(network()))
    for one in (svg, svg.find(SVG + "svg")):
        bands = [group for group in one.findall(f"{SVG}g/{SVG}g") if "it-band" in group.get("class")]
        assert [band.get("tabindex") for band in bands] == ["0"] * 3 and one.get("role") == "group"
        assert bands[1].get("aria-label") == "r = model[1](h) made 6 ReluBackward0"
        assert {"r = model[1](h)", "ReluBackward0", "6"} <= {text.text for text in bands[1].iter(SVG + "text")}


def test_both_layouts_show_all_of_it_and_cut_nothing():
    given = network()
    printed = drawn(given, names=dict(given["model"].named_parameters()))
    svg = checked_figure(printed)
    narrow = svg.find(SVG + "svg")
    svg.remove(narrow)
    for one, width in ((svg, WIDE), (narrow, PHONE)):
        texts = list(one.iter(SVG + "text"))
        assert float(one.get("width")) == width and len(list(one.iter(SVG + "circle"))) == len(rows_of(printed))
        for text in (text for text in texts if text.get("text-anchor") == "start"):
            assert float(text.get("x")) > 0 and float(text.get("x")) + code_width(text.text, READ) < width, text.text
    html = figure_html(checked_figure(printed), "")
    assert html.count("<svg") == 2 and html.index("it-wide") < html.index("it-narrow")
    assert "it-narrow" not in as_picture(printed).split("base64,")[0] and as_picture(printed).count("base64") == 1


def test_a_tensor_used_twice_has_two_arrows_that_do_not_meet():
    svg = checked_figure(drawn({"x": torch.ones(2, requires_grad=True)}, "a = x + x\nl = a * a"))
    for one in (svg, svg.find(SVG + "svg")):
        bands = [group for group in one.findall(f"{SVG}g/{SVG}g") if "it-band" in group.get("class")]
        heads = [
            {path.get("d") for path in band.iter(SVG + "path") if path.get("class") == "it-head"} for band in bands
        ]
        assert [len(tips) for tips in heads] == [3, 2]  # the third leads from the AccumulateGrad to its leaf


def newest(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The product, once the node of `a` looks newer than that of `b`."""
    a.grad_fn._set_sequence_nr(b.grad_fn._sequence_nr() + 1)
    return (a * b).sum()


BRANCHES = "a = x.exp()\nb = x.sin()\nl = "
DISAGREE = {
    "a node that was there": ("l = old.sum()", ValueError, "ExpBackward0 was there before"),
    "an older line first": (BRANCHES + "newest(a, b)", ValueError, "before SinBackward0, which a later line made"),
    "an arrow through a node": (BRANCHES + "(a * b).sum()", ValueError, "meets SinBackward0"),
    "three arrows to one": ("l = s([x, x, x])", ValueError, "from StackBackward0 to AccumulateGrad meets another"),
    "a line without tensor": ("a = x.exp()\nn = 3", TypeError, "Tensor"),
    "a line without graph": ("a = x.detach().exp()", ValueError, "no grad_fn"),
    "a long line": ("l = x.exp().exp().exp().exp().exp()", ValueError, "at most 31 characters"),
}


@pytest.mark.parametrize("case", DISAGREE)
def test_what_disagrees_with_the_drawing_raises(case):
    program, error, part = DISAGREE[case]
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(error, match=part):
        drawn({"x": x, "old": x.exp(), "newest": newest, "s": torch.stack}, program)
