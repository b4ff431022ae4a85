"""What the figure of the work in a step promises: what the step itself calls, moves and computes."""

from __future__ import annotations

import pytest
import torch
from test_figures import plain_and_fits, rows_of

from inside_torch.figures import step_work


def phases() -> dict:
    """A product of (8, 3) by (3, 4), its sum, and what backward makes of them."""
    w, x, kept = torch.ones(3, 4, requires_grad=True), torch.ones(8, 3), []
    return {"forward": lambda: kept.append((x @ w).sum()), "backward": lambda: kept.pop().backward()}


def test_it_counts_by_hand():
    rows = rows_of(step_work(phases(), title="t"))
    product, sums = (8 * 3 + 3 * 4 + 8 * 4) * 4, (8 * 4 + 1) * 4
    assert rows[0] == ["forward: matrix products", 1, product, 2 * 8 * 3 * 4]
    assert rows[1] == ["forward: all else", 1, sums, 0]
    assert rows[2] == ["backward: matrix products", 1, product, 2 * 8 * 3 * 4], "x requires no grad"


def test_views_and_allocation_move_nothing():
    x = torch.ones(4, 4)
    views = {"views": lambda: (x @ x, x.t().view(4, 4).detach(), torch.empty(1000), torch.empty_like(x))}
    rows = rows_of(step_work(views | {"writes": lambda: x.add_(x)}, title="t"))
    assert [row[2] for row in rows] == [3 * 64, 0, 3 * 64], "a product, views, a write: two arguments and a result"


def test_it_is_plain_and_fits_a_phone():
    svg = step_work(phases(), title="t")
    plain_and_fits(svg)


def test_what_has_no_formula_is_not_counted():
    svg = step_work(phases(), title="t")
    assert "FLOPs not counted." in svg and "FLOPs 0%" not in svg


def test_what_disagrees_with_the_figure_raises():
    x = torch.ones(1, 1, 4, 4)
    with pytest.raises(TypeError, match=r"'step' must be a .*Callable, got int"):
        step_work({"step": 3}, title="t")
    with pytest.raises(ValueError, match="1 to 4 phases, got 0"):
        step_work({}, title="t")
    with pytest.raises(ValueError, match=r"draws matrix products, and aten\.convolution\.default is none"):
        step_work({"step": lambda: torch.nn.functional.conv2d(x, x)}, title="t")
    with pytest.raises(ValueError, match="the step has no FLOPs"):
        step_work({"step": lambda: x + x}, title="t")
    with pytest.raises(ValueError, match="a text is too long"):
        step_work({"a" * 30: lambda: x @ x}, title="t")
