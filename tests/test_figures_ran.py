"""The figure of the kernels that run in a call says what torch ran."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest
import torch
from test_figures import ATTRIBUTES, CSS, HOSTILE, SVG, rows_of
from torch.func import vmap
from torch.utils._python_dispatch import TorchDispatchMode

from inside_torch.drawing.layout import PHONE, WIDE
from inside_torch.figures import kernels_ran

X, W, B = torch.ones(8, 3), torch.ones(3, 4, requires_grad=True), torch.ones(4)


def autocast():
    with torch.autocast("cpu"):
        return torch.addmm(B, X, W)


def inference():
    with torch.inference_mode():
        return torch.addmm(B, X, W)


CALLS = {
    "plain": lambda: torch.addmm(B, X, W),
    "autocast": autocast,
    "vmap": lambda: vmap(lambda x: torch.addmm(B, x, W))(X.view(2, 4, 3)),
    "meta": lambda: torch.addmm(*(t.to("meta") for t in (B, X, W))),
}


def column(call) -> dict[str, str]:
    return {key: ops for key, ops in rows_of(kernels_ran({"one": call}, title="t")) if ops}


def test_the_rows_are_the_keys_whose_kernels_ran():
    assert column(CALLS["plain"]) == {"AutogradCPU": "addmm", "CPU": "addmm"}
    assert column(inference) == {"CPU": "addmm"}
    assert list(column(autocast)) == ["AutocastCPU", "AutogradCPU", "BackendSelect", "CPU"]
    assert column(lambda: torch.addmm(B, X.to_sparse(), W))["SparseCPU"].endswith("addmm")
    assert column(lambda: X.view(3, 8)) == {"AutogradCPU": "view", "ADInplaceOrView": "view", "CPU": "view"}


def test_what_a_dispatch_mode_sees_is_in_the_row_of_the_backend():
    class Operators(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func.overloadpacket.__name__)
            return func(*args, **(kwargs or {}))

    for call in (CALLS["plain"], CALLS["vmap"]):
        seen = []
        with Operators():
            call()
        ran = [op.split()[0] for op in column(call)["CPU"].split(", ")]
        assert ran[-1] == list(dict.fromkeys(seen))[-1]
        assert set(ran) == set(seen) | ({"view"} & set(ran))


def test_a_kernel_that_runs_several_times_has_its_number():
    times = "\N{MULTIPLICATION SIGN}3"
    assert column(autocast)["CPU"] == f"_to_copy {times}, addmm"
    assert column(autocast)["AutogradCPU"] == f"to {times}, _to_copy {times}, addmm"
    drawn = kernels_ran({"plain": CALLS["plain"], "autocast": autocast, "inference": inference}, title="t")
    assert re.findall(r">(\d+ kernels?)<", drawn) == ["2 kernels", "15 kernels", "1 kernel"]


def test_torch_is_as_before_afterwards():
    before = torch._C._dispatch_dump_table("aten::addmm")
    kernels_ran(CALLS, title="t")
    assert torch._C._dispatch_dump_table("aten::addmm") == before


@pytest.mark.parametrize(
    ("calls", "error", "part"),
    [
        ({"x": torch.ones(1)}, TypeError, "must be a function, x is none"),
        ({"x": lambda: 3}, ValueError, "no kernel runs in x"),
        ({"x" * 90: CALLS["plain"]}, ValueError, "too long"),
    ],
)
def test_what_cannot_be_drawn_is_refused(calls, error, part):
    with pytest.raises(error, match=part):
        kernels_ran(calls, title="t")


def test_it_is_plain_stable_and_fits():
    svg = kernels_ran(CALLS, title=HOSTILE)
    root = ElementTree.fromstring(svg)
    assert float(root.get("width")) <= WIDE and float(root.find(f"{SVG}svg").get("width")) <= PHONE
    for element in root.iter():
        assert set(element.keys()) <= ATTRIBUTES[element.tag.removeprefix(SVG)]
    drawn = {name for value in re.findall(r'class="([^"]+)"', svg) for name in value.split()}
    assert drawn <= set(re.findall(r"\.(figure|it-[\w-]+)", CSS))
    assert svg == kernels_ran(CALLS, title=HOSTILE)
