"""What a chapter claims to cover is enumerated from live objects: each is on a page, or omitted with a reason."""

from __future__ import annotations

import re
import types
import warnings

import pytest
import torch
from conftest import BOOK

import inside_torch.figures

CHAPTER = "".join(BOOK.page(f"{name}.md").text for name in ("tensor", "views", "versions", "tensor-types"))

OMITTED = {
    # layouts
    **dict.fromkeys("sparse_csc sparse_bsr sparse_bsc jagged _mkldnn".split(), "a page of its own: tensor kinds"),
    # memory formats
    "channels_last_3d": "channels_last with one dimension more",
    "preserve_format": "a request to a call, not a format of a tensor",
    "contiguous_format": "the default; the page says contiguous",
    "legacy_contiguous_format": "its old name",
    # attributes that are no metadata of reading numbers, but of autograd
    **dict.fromkeys(
        "_backward_hooks _grad _grad_fn _post_accumulate_grad_hooks grad grad_dtype grad_fn is_leaf output_nr "
        "requires_grad retains_grad name volatile".split(),
        "autograd: forward and backward",
    ),
    **dict.fromkeys("H T mH mT imag real".split(), "views: syntax"),
    **dict.fromkeys(
        "is_cpu is_cuda is_ipu is_maia is_meta is_mkldnn is_mps is_mtia is_nested is_quantized is_sparse "
        "is_sparse_csr is_vulkan is_xla is_xpu".split(),
        "each a shorthand for a comparison with device, layout or dtype",
    ),
    "_cdata": "the address of the TensorImpl",
    "_has_symbolic_sizes_strides": "compile",
    "_python_dispatch": "extending",
    "__cuda_array_interface__": "an exchange format for GPUs",
    "itemsize": "element_size() as an attribute",
    "ndim": "the length of shape",
}


def attributes() -> set[str]:
    """The data attributes of torch.Tensor."""
    kinds = types.GetSetDescriptorType, property
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {name for name in dir(torch.Tensor) if isinstance(getattr(torch.Tensor, name, None), kinds)}
    return {name for name in found if name not in ("__weakref__", "__dict__")}


def named(kind: type) -> set[str]:
    return {name for name, value in vars(torch).items() if isinstance(value, kind)}


def uncovered(names: set[str], text: str, omitted: dict[str, str]) -> set[str]:
    """The names that neither the text mentions nor the list omits."""
    return {name for name in names if name not in omitted and not re.search(rf"(?:\b|_){re.escape(name)}\b", text)}


@pytest.mark.parametrize("names", [named(torch.layout), named(torch.memory_format), attributes()])
def test_the_chapter_covers_what_there_is(names):
    assert names
    assert uncovered(names, CHAPTER, OMITTED) == set()


def test_an_omission_has_a_reason_and_is_still_there():
    there = named(torch.layout) | named(torch.memory_format) | attributes()
    assert all(OMITTED.values())
    assert OMITTED.keys() <= there, "torch no longer has these: drop them from the list"


def test_something_new_would_be_noticed():
    assert uncovered({"strided", "sparse_new"}, CHAPTER, OMITTED) == {"sparse_new"}


def test_every_figure_function_is_drawn_on_a_page():
    drawn = "".join(f.source for page in BOOK.pages for f in page.fences if f.info == "figure")
    drawing = [name for name, made in vars(inside_torch.figures).items() if callable(made)]
    assert len(drawing) >= 10 and [name for name in drawing if not re.search(rf"\b{name}\(", drawn)] == []
