"""What the figure of a custom operator's functions promises: what the operator itself calls."""

from __future__ import annotations

import pytest
import torch
from test_figures import plain_and_fits, rows_of

from inside_torch.figures import operator_uses


def pieces() -> dict:
    def save(ctx, inputs, output):
        ctx.save_for_backward(output)

    return {
        "kernel": lambda x: x.clamp(min=0),
        "fake": lambda x: torch.empty_like(x),
        "setup": save,
        "backward": lambda ctx, grad: grad * (ctx.saved_tensors[0] > 0),
    }


def test_each_use_calls_what_the_figure_says():
    rows = rows_of(operator_uses("drawn::relu", pieces(), torch.ones(4, 2), title="t"))
    called = {use: [bool(count) for count in counts] for use, *counts in rows}
    assert called == {
        "relu(x)": [True, False, False, False],
        "relu(w), w requires grad": [True, False, True, False],
        "backward()": [False, False, False, True],
        "compile relu(w): Dynamo": [False, True, True, False],
        "compile relu(w): AOTAutograd": [False, True, True, True],
        "compiled(w)": [True, False, False, False],
        "backward() of that call": [False, False, False, False],
    }
    assert rows[0][1] == rows[5][1] == 1, "one call of the kernel"


def test_it_is_plain_and_fits_a_phone():
    svg = operator_uses("drawn::plain", pieces(), torch.ones(4, 2), title="t")
    plain_and_fits(svg)


def test_what_disagrees_with_the_figure_raises():
    x = torch.ones(4, 2)
    with pytest.raises(ValueError, match="the pieces are kernel, fake, setup, backward, got kernel"):
        operator_uses("drawn::few", {"kernel": torch.relu}, x, title="t")
    with pytest.raises(TypeError, match=r"fake must be a .*Callable, got int"):
        operator_uses("drawn::number", pieces() | {"fake": 3}, x, title="t")
    with pytest.raises(TypeError, match=r"x must be a torch\.Tensor, got int"):
        operator_uses("drawn::int", pieces(), 3, title="t")
    with pytest.raises(ValueError, match="too long"):
        operator_uses("drawn::" + "a" * 40, pieces(), x, title="t")
    operator_uses("drawn::twice", pieces(), x, title="t")
    with pytest.raises(RuntimeError, match="an operator drawn::twice already"):
        operator_uses("drawn::twice", pieces(), x, title="t")
