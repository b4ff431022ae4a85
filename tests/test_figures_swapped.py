"""The figure of a call under modes that swap it says what torch ran, and where autograd was skipped."""

from __future__ import annotations

import pytest
import torch
from test_figures import HOSTILE, rows_of
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from inside_torch.figures import swapped_call
from inside_torch.render.figures import checked_figure, figure_html

X = torch.tensor([-1.0, 2.0])


class Above(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return (torch.tanh if func is torch.relu else func)(*args, **(kwargs or {}))


class Below(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return (torch.tanh if func is torch.ops.aten.relu.default else func)(*args, **(kwargs or {}))


def drawn(f=torch.relu, modes=None, title="t") -> str:
    return swapped_call(f, X, modes or {"Above": Above(), "Below": Below()}, title=title)


def test_each_station_has_what_it_was_asked_for_and_autograd_is_skipped_below_it():
    above, next_, below, skipped = rows_of(drawn())[0], "autograd is next", rows_of(drawn())[6], "autograd skipped"
    assert above == ["Above", "function level", f"relu, handler calls tanh, {next_}"]
    assert below == ["Below", "dispatch level", f"relu, handler calls tanh, {skipped}"]
    assert [holds for *_, holds in rows_of(drawn())[1:4]] == ["TanhBackward0", "tanh", "tanh"]
    assert [holds for *_, holds in rows_of(drawn())[4:6]] == ["relu", "ReluBackward0"]
    assert rows_of(drawn())[7] == ["Below", "kernel", "tanh"]


def test_the_node_is_that_of_an_ordinary_call_and_the_tensor_is_left_alone():
    drawn()
    assert not X.requires_grad and X.grad is None
    x = X.clone().requires_grad_()
    with Below():
        y = torch.relu(x)
    assert y.grad_fn.name() == rows_of(drawn())[5][-1] and torch.equal(y, X.tanh())


@pytest.mark.parametrize(
    ("f", "part"),
    [
        (lambda x: torch.relu(torch.relu(x)), "one call of one operator"),
        (lambda x: x, "one call of one operator"),
        (torch.sin, "Above swaps nothing"),
        (torch.logical_not, "must return a tensor with a node"),
    ],
)
def test_what_is_no_single_swapped_call_with_a_node_is_refused(f, part):
    with pytest.raises(ValueError, match=part):
        drawn(f)


def test_what_is_no_tensor_or_no_dict_is_refused():
    with pytest.raises(TypeError, match=r"x must be a torch\.Tensor"):
        swapped_call(torch.relu, 3, {"Above": Above()}, title="t")
    with pytest.raises(TypeError, match="modes must be a dict"):
        swapped_call(torch.relu, X, [Above()], title="t")
    with pytest.raises(ValueError, match="1 to 2 modes"):
        drawn(modes={name: Above() for name in "abc"})


def test_what_is_too_long_is_refused_and_what_is_drawn_can_be_shown():
    with pytest.raises(ValueError, match="too long"):
        drawn(modes={"x" * 90: Above()})
    assert drawn(title=HOSTILE) == drawn(title=HOSTILE)
    assert figure_html(checked_figure(drawn(title=HOSTILE)), "")
