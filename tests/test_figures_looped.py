"""What the figure of a kernel's loops promises: the cells that torch's plan visits, or an error where they disagree."""

from __future__ import annotations

import re

import pytest
import torch
from test_figures import CSS, HOSTILE, rows_of
from torch import _tensor_iterator

from inside_torch.drawing.layout import PHONE, WIDE
from inside_torch.figures import loop_plans
from inside_torch.render.figures import checked_figure, figure_html, layouts

X = torch.tensor([[1, 2, 3], [4, 5, 6]])
Y = torch.tensor([[10, 40], [20, 50], [30, 60]]).t()


def test_the_cells_are_those_of_the_strides():
    rows = {
        (label, name): (strides, at) for label, name, strides, at in rows_of(loop_plans({"x + y": (X, Y)}, title="t"))
    }
    assert rows["x + y", "x"] == ([3, 1], list(range(6)))
    assert rows["x + y", "y"] == ([1, 2], [0, 2, 4, 1, 3, 5])
    assert rows["x + y", "x + y"] == ([3, 1], list(range(6)))


def test_one_loop_has_one_tone_and_a_cell_that_is_read_twice_both_steps():
    svg = loop_plans({"y + y": (Y, Y)}, title="t")
    assert rows_of(svg)[0] == ["y + y", "y + y", [1], list(range(6))] and "it-2" not in svg and ">6 steps<" in svg
    svg = loop_plans({"x + row": (X, X[0])}, title="t")
    assert rows_of(svg)[2] == ["x + row", "row", [0, 1], [0, 1, 2, 0, 1, 2]] and ">1,4<" in svg


def test_it_is_plain_and_fits_a_phone():
    svg = loop_plans({"x + y": (X, Y), "y + x": (Y, X)}, title=HOSTILE)
    wide, narrow = layouts(checked_figure(svg))
    assert float(wide.get("width")) <= WIDE and float(narrow.get("width")) <= PHONE
    drawn = {name for value in re.findall(r'class="([^"]+)"', svg) for name in value.split()}
    assert drawn <= set(re.findall(r"\.(figure|it-[\w-]+)", CSS))
    figure_html(checked_figure(svg), "")


def test_a_plan_that_torch_does_not_follow_raises(monkeypatch: pytest.MonkeyPatch):
    plan = _tensor_iterator.binary_op
    monkeypatch.setattr(_tensor_iterator, "binary_op", lambda out, a, b: plan(out, b, a))
    with pytest.raises(ValueError, match="does not write the sum of what it reads"):
        loop_plans({"x + y": (X, Y)}, title="t")
    monkeypatch.setattr(_tensor_iterator, "binary_op", lambda out, a, b: Other(plan(out, a, b)))
    with pytest.raises(ValueError, match=r"has strides \(3, 1\), and the plan \(1, 2\)"):
        loop_plans({"x + y": (X, Y)}, title="t")


class Other:
    """A plan with another result."""

    def __init__(self, plan):
        self.plan = plan

    def __getattr__(self, name: str):
        return getattr(self.plan, name)

    def output(self) -> torch.Tensor:
        return Y


@pytest.mark.parametrize(
    ("sums", "error", "says"),
    [
        ({"x + y": (X, 3)}, TypeError, "each operand of 'x \\+ y' must be a torch.Tensor, got int"),
        ({"x + y": X}, TypeError, "must be a tuple"),
        ({}, ValueError, "1 to 2 sums, got 0"),
        ({"x": (X, Y)}, ValueError, "written with a plus"),
        ({"x + y": (X, Y, Y)}, ValueError, "a sum of two"),
        ({"x + y": (X, Y.int())}, ValueError, "integers of one dtype"),
        ({"x + y": (X.float(), Y.float())}, ValueError, "integers of one dtype"),
        ({"x + y": (X[0, :1], Y[0, :1])}, ValueError, "2 to 8 steps"),
        ({"x + y": (torch.ones(9, dtype=torch.int), torch.ones(9, dtype=torch.int))}, ValueError, "2 to 8 steps"),
        ({"x + y": (X.t(), Y.t()), "y + x": (torch.ones(4, 2, dtype=torch.int), torch.ones(2, dtype=torch.int))},
         ValueError, "3 turns"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_said(sums, error, says):
    with pytest.raises(error, match=says):
        loop_plans(sums, title="t")
