"""The figure of a call's visits to the dispatcher says what torch ran, and with which keys."""

from __future__ import annotations

import pytest
import torch
from test_figures import HOSTILE, rows_of

from inside_torch.figures import dispatcher_visits
from inside_torch.render.figures import checked_figure, figure_html

X, W, B = torch.ones(8, 3), torch.ones(3, 4, requires_grad=True), torch.ones(4)


def plain():
    return torch.addmm(B, X, W)


def autocast():
    with torch.autocast("cpu"):
        return plain()


def inference():
    with torch.inference_mode():
        return plain()


def stops(call, operator="addmm") -> list:
    return rows_of(dispatcher_visits(call, operator, "f()", title="t"))


def visits(call) -> list[str]:
    return [keys for name, keys in stops(call) if name == "dispatcher"]


def test_each_visit_has_the_keys_with_which_the_next_kernel_is_called():
    assert visits(plain) == ["AutogradCPU, CPU", "CPU"]
    assert visits(autocast) == ["AutocastCPU, AutogradCPU, CPU", "AutogradCPU, CPU", "CPU"]
    assert visits(inference) == ["CPU"]
    assert visits(lambda: torch.addmm(*(t.to("meta") for t in (B, X, W)))) == ["AutogradMeta, Meta", "Meta"]


def test_a_kernel_has_its_file_and_only_autograds_leaves_the_node():
    kernels = [said for name, said in stops(plain) if name == "kernel"]
    assert kernels == [
        "for AutogradCPU, VariableType_0.cpp, leaves AddmmBackward0, calls addmm again",
        "for CPU, RegisterCPU_2.cpp, returns (8, 4)",
    ]
    with torch.no_grad():
        assert "leaves" not in str(stops(plain))


def test_torch_is_as_before_afterwards():
    before = torch._C._dispatch_dump_table("aten::addmm")
    stops(autocast)
    assert torch._C._dispatch_dump_table("aten::addmm") == before


@pytest.mark.parametrize(("call", "part"), [(lambda: B + B, "addmm is not called"), (lambda: 3, "is not called")])
def test_a_call_without_the_operator_is_refused(call, part):
    with pytest.raises(ValueError, match=part):
        stops(call)


def test_what_is_too_long_is_refused_and_what_is_drawn_can_be_shown():
    with pytest.raises(ValueError, match="too long"):
        dispatcher_visits(plain, "addmm", "x" * 90, title="t")
    svg = dispatcher_visits(plain, "addmm", "f()", title=HOSTILE)
    assert svg == dispatcher_visits(plain, "addmm", "f()", title=HOSTILE)
    assert figure_html(checked_figure(svg), "")
