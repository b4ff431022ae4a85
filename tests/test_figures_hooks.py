"""What the timeline of hooks promises: the order of a real run, the module left as it was, or no figure."""

import pytest
import torch
from test_figures import SVG, rows_of
from torch import nn

from inside_torch.drawing.layout import PHONE, READ, WIDE, code_width
from inside_torch.figures import hook_timeline
from inside_torch.render.figures import checked_figure


def test_the_order_is_the_one_of_a_run_and_grad_is_seen_from_the_post_accumulate_hook_on():
    layer, x, order = nn.Linear(3, 4), torch.ones(2, 3, requires_grad=True), []
    found = rows_of(hook_timeline(layer, x, title="Hooks"))
    kinds = [("layer", layer, kind) for kind in ("full_backward_hook", "forward_hook", "forward_pre_hook")]
    for name, on, kind in [
        *kinds,
        ("weight", layer.weight, "post_accumulate_grad_hook"),
        ("weight", layer.weight, "hook"),
    ]:
        said = f"{name}.register_{kind}"
        getattr(on, f"register_{kind}")(lambda *_, said=said: order.append((said, layer.weight.grad is not None)))
    layer(x).sum().backward()
    assert [(row[1], row[2] == "written") for row in found if row[1] in dict(order)] == order
    assert [row[0] for row in found] == list(range(1, 14))
    assert [row[1] for row in found if "TBackward0" in row[1]] == [
        "TBackward0.register_prehook",
        "TBackward0.register_hook",
    ]


def test_hooks_and_gradients_are_left_alone():
    layer, x = nn.Linear(3, 4), torch.ones(2, 3, requires_grad=True)
    layer.weight.grad = held = torch.ones(4, 3)
    first = hook_timeline(layer, x, title="Hooks")
    assert layer.weight.grad is held and x.grad is None and layer.bias.grad is None
    assert not layer._forward_hooks and not layer._backward_hooks and not layer.weight._backward_hooks
    assert hook_timeline(layer, x, title="Hooks") == first


def test_both_layouts_show_every_hook_and_cut_nothing():
    printed = hook_timeline(nn.Linear(3, 4), torch.ones(2, 3, requires_grad=True), title="Hooks")
    svg = checked_figure(printed)
    narrow = svg.find(SVG + "svg")
    svg.remove(narrow)
    for one, width in ((svg, WIDE), (narrow, PHONE)):
        assert len(list(one.iter(SVG + "circle"))) == len(rows_of(printed)) + 3  # of the key
        for text in one.iter(SVG + "text"):
            assert float(text.get("x")) + code_width(text.text, READ) < width, text.text
        assert "AccumulateGrad writes weight.grad" in [text.text for text in one.iter(SVG + "text")]


class Unused(nn.Linear):
    """Has a weight, and computes without it."""

    def forward(self, x):
        return x * self.bias


def early() -> nn.Module:
    """A layer whose weight.grad is there before its AccumulateGrad has run."""
    layer = nn.Linear(3, 3)
    layer.weight.register_hook(lambda grad: setattr(layer.weight, "grad", grad.clone()))
    return layer


DISAGREE = {
    "a weight that is not used": (
        lambda: Unused(3, 3),
        ValueError,
        "weight.register_hook ran 0 times|prehook ran 0 times",
    ),
    "a gradient that is early": (early, ValueError, "must be there from weight.register_post_accumulate_grad_hook on"),
    "a layer that is none": (lambda: torch.relu, TypeError, "Module"),
    "a layer without weight": (nn.ReLU, TypeError, r"layer\.weight"),
}


@pytest.mark.parametrize("case", DISAGREE)
def test_what_disagrees_with_the_drawing_raises(case):
    make, error, part = DISAGREE[case]
    with pytest.raises(error, match=part):
        hook_timeline(make(), torch.ones(2, 3, requires_grad=True), title="Hooks")
