"""What the figure of the extension points of a call promises: what each of them is given by the same call."""

from __future__ import annotations

import pytest
import torch
from test_figures import plain_and_fits, rows_of
from torch.utils._python_dispatch import TorchDispatchMode

from inside_torch.figures import extension_points


class Below(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


def drawn(f=torch.relu, backward="threshold_backward") -> str:
    return extension_points(f, torch.tensor([-2.0, 3.0]), backward, title="t")


def test_forward_passes_all_points_and_backward_those_of_autograd_and_below():
    rows = rows_of(drawn())
    assert [row[0] for row in rows] == [
        *("TorchFunctionMode", "__torch_function__ of a subclass", "Library AutogradCPU", "autograd's function"),
        *("TorchDispatchMode", "__torch_dispatch__ of a subclass", "Library CPU"),
    ]
    made, none = rows.pop(3)[1:]
    assert (made, none) == ("makes ReluBackward0", "makes no node")
    assert [row[1] for row in rows] == ["relu"] * 6
    assert [row[2] for row in rows] == ["", "", *["threshold_backward"] * 4]


def test_a_dispatch_mode_alone_sees_the_same():
    x = torch.tensor([-2.0, 3.0], requires_grad=True)
    with Below() as mode:
        mode.seen = []
        torch.sigmoid(x).sum().backward()
    rows = rows_of(drawn(torch.sigmoid, "sigmoid_backward"))
    assert {rows[4][1], rows[4][2]} <= set(mode.seen)


def test_nothing_stays_registered():
    drawn()
    x = torch.tensor([-2.0], requires_grad=True)
    y = x.relu()
    assert y.item() == 0 and y.grad_fn.name() == "ReluBackward0"
    assert "figures" not in torch._C._dispatch_dump("aten::relu")


def test_it_is_plain_stable_and_fits_a_phone():
    svg = drawn()
    assert svg == drawn()
    plain_and_fits(svg)


def test_what_disagrees_with_the_figure_raises():
    with pytest.raises(TypeError, match=r"x must be a torch\.Tensor, got int"):
        extension_points(torch.relu, 3, "threshold_backward", title="t")
    with pytest.raises(ValueError, match="and square passes"):  # composite: below autograd it is pow
        drawn(torch.square)
    with pytest.raises(ValueError, match="backward passes"):
        drawn(torch.sigmoid, "threshold_backward")
