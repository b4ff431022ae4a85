"""The figures of a key set's bits and of a call's way through a table say what the dispatcher does."""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ElementTree

import pytest
import torch
from test_figures import SVG, rows_of, texts
from test_figures_keys import filled, kinds

from inside_torch.figures import call_route, key_bits
from inside_torch.render.figures import checked_figure, figure_html


def pairs() -> list[tuple[torch.Tensor, ...]]:
    sparse, meta = torch.eye(2).to_sparse(), torch.ones(2, device="meta")
    return [*((one,) for one in kinds().values()), (sparse, meta), (torch.ones(2), sparse)]


@pytest.mark.parametrize("tensors", pairs())
def test_the_filled_bits_are_those_of_the_number(tensors):
    keys = torch._C._dispatch_keys(tensors[0])
    for one in tensors[1:]:
        keys = keys | torch._C._dispatch_keys(one)
    svg = key_bits(*tensors, title="t")
    wide = ElementTree.fromstring(svg)
    narrow = next(one for one in wide.iter(f"{SVG}svg") if one is not wide)
    drawn = [one for one in wide.iter(f"{SVG}rect") if one.get("class") == "it-element"]
    inside = [one for one in narrow.iter(f"{SVG}rect") if one.get("class") == "it-element"]
    assert len(drawn) - len(inside) == len(inside) == keys.raw_repr().bit_count()
    made = {key for bit, _, keys in rows_of(svg) if bit >= 16 for key in keys.split(", ")}
    assert made == set(str(keys)[15:-1].split(", "))
    backends = {name for bit, name, _ in rows_of(svg) if bit < 16}
    assert backends == {one.device.type.replace("meta", "Meta").replace("cpu", "CPU") for one in tensors}
    assert all(keys.raw_repr() >> bit & 1 and str(bit) in texts(svg) for bit, *_ in rows_of(svg))
    figure_html(checked_figure(svg), "")


def watched(operator, call) -> list[str]:
    """The keys whose kernels of `operator` run in a call, noted by wrappers around them."""
    library, ran = torch.library.Library("aten", "IMPL"), []
    try:
        for key in ("AutocastCPU", "AutogradCPU", "CPU"):
            kernel = torch.library.get_kernel(operator, key)

            def note(keys, *args, key=key, kernel=kernel):
                ran.append(key)
                return kernel.call_boxed(keys, *args)

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                library.impl(operator._schema.name.partition("::")[2], note, key, with_keyset=True)
        call()
    finally:
        library._destroy()
    return ran


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.inference_mode, lambda: torch.autocast("cpu")])
def test_what_is_drawn_as_running_runs(mode):
    x, w, b = torch.ones(8, 3), torch.ones(3, 4), torch.ones(4)
    addmm = torch.ops.aten.addmm.default
    with mode():
        svg = call_route("aten::addmm", x, title="t")
        ran = watched(addmm, lambda: addmm(b, x, w))
    assert [key for key, _, happens, *_ in rows_of(svg) if happens == "runs"] == ran
    assert filled(svg) == 2 * len(ran)  # once for each layout
    called = {"redispatch": "AutogradCPU", "calls again": "AutocastCPU"}
    assert all(key in ran[:-1] for said, key in called.items() if said in texts(svg))
    figure_html(checked_figure(svg), "")


def test_a_composite_kernel_ends_the_way():
    with pytest.raises(ValueError, match="too long"):  # the file of this kernel has no room on a phone
        call_route("aten::linear", torch.ones(2, 2), title="t")
    from inside_torch.figures.keys import route

    happened = {key: happens for key, _, happens, *_ in route("aten::linear", torch.ones(2, 2))}
    assert happened["AutogradCPU"] == "runs" and happened["CPU"] == "not reached"


def test_who_brings_a_key_is_named():
    brought = {key: who for key, who, *_ in rows_of(call_route("aten::relu", torch.ones(2), title="t"))}
    assert brought["BackendSelect"] == "thread"
    assert brought["CPU"] == "tensor"
    assert brought["ADInplaceOrView"] == "tensor and thread"


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(TypeError, match=r"must be a .*Tensor, got int"):
        key_bits(3, title="t")
    with pytest.raises(ValueError, match="at least one bit"):
        key_bits(title="t")
    with pytest.raises(TypeError, match=r"must be a .*Tensor, got int"):
        call_route("aten::relu", 3, title="t")
    with pytest.raises((ValueError, RuntimeError), match="nothing"):
        call_route("nothing::here", torch.ones(2), title="t")
    with pytest.raises(ValueError, match="one line of visible text"):
        key_bits(torch.ones(2), title=" ")
