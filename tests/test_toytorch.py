"""The reader's own torch does what torch does: which kernels run in a call, noted by torch's own kernels."""

from __future__ import annotations

import itertools
import runpy
import warnings

import pytest
import torch
from conftest import ROOT
from torch.library import Library, get_kernel

CALLS = {"mm": 2, "mul.Tensor": 2, "relu": 1, "sum": 1, "sigmoid": 1, "t": 1, "square": 1, "_to_copy": 1, "neg_": 1}
MODES = {
    "plain": torch.enable_grad,
    "no_grad": torch.no_grad,
    "inference": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", cache_enabled=False),
}


def tensors() -> dict[str, torch.Tensor]:
    x = torch.eye(2)
    with torch.inference_mode():
        inference = torch.eye(2)
    w = (x * 1).requires_grad_() * 1  # no leaf, or an in-place operator would be refused
    return {"dense": x, "grad": w, "meta": x.to("meta"), "sparse": x.to_sparse(), "inference": inference}


@pytest.fixture(scope="module")
def toy() -> dict:
    return runpy.run_path(str(ROOT / "examples/toytorch/dispatch.py"))


def keys_of(tensor: torch.Tensor, order: tuple) -> set[str]:
    """The keys of a call on a tensor, of those that the toy knows."""
    keys = torch._C._dispatch_keys(tensor) | torch._C._dispatch_tls_local_include_set()
    keys = keys - torch._C._dispatch_tls_local_exclude_set()
    return {key for key in order if keys.has(torch._C.DispatchKey.__members__[key])}


def torch_ran(name: str, order: tuple, table: dict, call) -> list[str]:
    """The keys whose kernels of an operator torch runs in a call, each noted by a function in front of the kernel. A
    backend's kernel may call the same operator for a part of its tensor, as sparse ones do: that is another call."""
    library, ran, inside = Library("aten", "IMPL"), [], []
    for key in (key for key in order if not table.get(key, ("", True))[1]):
        if (key, table[key][0]) == ("Meta", "math kernel"):
            continue  # torch refuses a kernel there, and the operators below run on the meta tensor
        kernel = get_kernel(name, key)

        def noted(keyset, *args, key=key, kernel=kernel, **options):
            ran.extend([] if inside else [key])
            inside.extend([key] if key in order[5:] else [])
            try:
                return kernel.call_boxed(keyset, *args, **options)
            finally:
                del inside[-1 if key in order[5:] else len(inside) :]

        library.impl(name, noted, key, with_keyset=True)
    try:
        call()
    except RuntimeError as error:  # a kernel may refuse this dtype or this mode; then it ran
        ran.extend(["missing"] if str(error).startswith("Could not run") else [])
    finally:
        library._destroy()
    return ran


# In the one case left out, autocast's kernel casts to new tensors, which are no inference tensors and have more keys.
CASES = set(itertools.product(CALLS, tensors(), MODES)) - {("mm", "inference", "autocast")}


@pytest.mark.parametrize(("name", "kind", "mode"), sorted(CASES))
def test_the_toy_runs_the_kernels_that_torch_runs(name, kind, mode, toy):
    full, tensor, order = f"aten::{name}", tensors()[kind], toy["ORDER"]
    packet, _, overload = name.partition(".")
    operator = getattr(getattr(torch.ops.aten, packet), overload or "default")
    with MODES[mode](), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        theirs = torch_ran(full, order, toy["tables"][full], lambda: operator(*[tensor] * CALLS[name]))
        ours = []
        try:
            toy["operators"][full].call(keys_of(tensor, order), ours)
        except NotImplementedError:
            ours.append("missing")
    if toy["tables"][full].get("Meta", ("",))[0] == "math kernel":
        ours = [key for key in ours if key != "Meta"]
    assert ours == theirs


def test_a_kernel_that_is_nowhere_is_reported(toy):
    operator = toy["Operator"]("toy::none")
    with pytest.raises(NotImplementedError, match="Could not run toy::none on CPU"):
        operator.call({"CPU", "AutogradCPU"}, [])
