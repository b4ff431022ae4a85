"""The figures of the dispatcher say what the dispatcher says."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
import torch
from test_figures import SVG, rows_of

from inside_torch.figures import kernels, key_set
from inside_torch.render.figures import checked_figure, figure_html


def filled(svg: str) -> int:
    return sum(rect.get("class") == "it-element" for rect in ElementTree.fromstring(svg).iter(f"{SVG}rect"))


def kinds() -> dict[str, torch.Tensor]:
    with torch.inference_mode():
        inference = torch.ones(2)
    return {
        "plain": torch.ones(2),
        "grad": torch.ones(2, requires_grad=True),
        "meta": torch.ones(2, device="meta"),
        "sparse": torch.eye(2).to_sparse(),
        "inference": inference,
    }


@pytest.mark.parametrize("kind", kinds())
def test_the_bit_that_is_filled_is_the_key_that_the_dispatcher_takes(kind):
    tensor = kinds()[kind]
    svg = key_set(tensor, title="t")
    left = torch._C._dispatch_keys(tensor) | torch._C._dispatch_tls_local_include_set()
    left = left - torch._C._dispatch_tls_local_exclude_set()
    assert [name for name, _, taken in rows_of(svg) if taken] == [left.highestPriorityTypeId().name]
    assert filled(svg) == 1
    assert all(left.has(getattr(torch._C.DispatchKey, name)) == (bit == "set") for name, bit, _ in rows_of(svg))
    figure_html(checked_figure(svg), "")


def test_an_excluded_key_becomes_the_one_taken_when_it_no_longer_is():
    x = torch.ones(2)
    before = rows_of(key_set(x, title="t"))
    with torch.autocast("cpu"):
        after = rows_of(key_set(x, title="t"))
    assert ["AutocastCPU", "excluded", ""] in before and ["AutocastCPU", "set", "taken"] in after


def test_kernels_are_those_registered_and_a_dashed_one_is_generated():
    svg = kernels("aten::copy_", torch.ones(2), title="t")
    assert [(key, source) for key, _, source in rows_of(svg)] == [
        ("AutogradCPU", "written by hand"),
        ("ADInplaceOrView", "written by hand"),
        ("CPU", "generated"),
    ]
    assert svg.count("it-dashed") == 1
    assert [key for key, *_ in rows_of(kernels("aten::relu", torch.ones(2), title="t"))] == ["AutogradCPU", "CPU"]
    for key, file, _ in rows_of(kernels("aten::mul.Tensor", torch.ones(2), title="t")):
        assert f"{key}: registered at" in torch._C._dispatch_dump_table("aten::mul.Tensor")
        assert file in torch._C._dispatch_dump_table("aten::mul.Tensor")
    figure_html(checked_figure(svg), "")


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(TypeError, match=r"must be a .*Tensor, got int"):
        key_set(3, title="t")
    with pytest.raises(ValueError, match="no kernel of nothing::here"):
        kernels("nothing::here", torch.ones(2), title="t")
    with pytest.raises(ValueError, match="one line of visible text"):
        key_set(torch.ones(2), title=" ")


def test_the_same_figure_is_the_same_bytes():
    assert key_set(torch.ones(2), title="t") == key_set(torch.zeros(3), title="t")
