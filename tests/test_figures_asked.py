"""The figure of the three questions says which calls leave a node, and which question says no to the others."""

from __future__ import annotations

import pytest
import torch
from test_figures import HOSTILE, rows_of

from inside_torch.figures import three_questions
from inside_torch.figures.asked import NODE, QUESTIONS
from inside_torch.render.figures import checked_figure, figure_html

FIRST, SECOND, THIRD = QUESTIONS
X, W = torch.ones(2), torch.ones(2, requires_grad=True)


def ways(line, *operators: str) -> list:
    """The rows of a figure of one line."""
    return [(place, n) for place, _, n in rows_of(three_questions({"f": line}, operators, title="t"))]


def under(mode, line):
    def call():
        with mode():
            return line()

    return call


@pytest.mark.parametrize("tensor", [X, W])
@pytest.mark.parametrize("modes", [(), (torch.no_grad,), (torch.inference_mode,), (torch.no_grad, torch.enable_grad)])
def test_a_call_ends_at_the_first_no_and_has_a_node_after_three_times_yes(tensor, modes):
    def line():
        made.append(tensor.relu())

    made, call = [], line
    for mode in reversed(modes):
        call = under(mode, call)
    expected = NODE if tensor.requires_grad else THIRD
    if modes and modes[-1] is not torch.enable_grad:
        expected = SECOND if modes[-1] is torch.no_grad else FIRST
    assert ways(call, "relu") == [(expected, 1)]
    assert (made[-1].grad_fn is not None) == (expected == NODE)


def test_calls_of_one_line_may_end_at_several_places():
    line = lambda: (X.relu(), W.relu() * 2, under(torch.no_grad, W.relu)())  # noqa: E731
    assert ways(line, "relu", "mul.Tensor") == [(SECOND, 1), (THIRD, 1), (NODE, 2)]


def test_torch_is_as_before_afterwards():
    before = torch._C._dispatch_dump_table("aten::relu")
    ways(W.relu, "relu")
    assert torch._C._dispatch_dump_table("aten::relu") == before


@pytest.mark.parametrize(
    ("line", "operator", "part"),
    [
        (lambda: 3, "relu", "f calls none of relu"),
        (lambda: W > 1, "gt.Scalar", "do not decide whether gt.Scalar leaves a node"),  # yes, yes, yes, and no node
        (lambda: W.detach(), "detach", "do not decide whether detach leaves a node"),
        (lambda: torch.zeros_like(W), "zeros_like", "do not decide"),  # passes autograd in no inference mode
    ],
)
def test_a_call_that_is_decided_otherwise_is_refused(line, operator, part):
    with pytest.raises(ValueError, match=part):
        ways(line, operator)


def test_what_is_too_long_is_refused_and_what_is_drawn_can_be_shown():
    with pytest.raises(ValueError, match="too long"):
        three_questions({"f" * 90: W.relu}, ["relu"], title="t")
    svg = three_questions({"f": W.relu}, ["relu"], title=HOSTILE)
    assert svg == three_questions({"f": W.relu}, ["relu"], title=HOSTILE)
    assert figure_html(checked_figure(svg), "")
