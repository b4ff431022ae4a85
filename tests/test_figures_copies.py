"""What the figures of copies promise: true to the live tensors, an error where these disagree, room on a phone."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest
import torch
from test_figures import ATTRIBUTES, CSS, SVG, numbers, rows_of, texts

from inside_torch.drawing.layout import MARGIN, NARROW, WIDE, code_width
from inside_torch.figures import lazy_copy, memory_order


def images() -> dict[str, torch.Tensor]:
    x = torch.arange(12).reshape(1, 3, 2, 2)
    return {"x": x, "y": x.to(memory_format=torch.channels_last)}


def flattened() -> dict[str, torch.Tensor]:
    x = torch.arange(12).reshape(3, 4)
    return {"x": x, "x.t().reshape(-1)": x.t().reshape(-1)}


def lazy() -> dict[str, torch.Tensor]:
    x = torch.arange(4)
    return {"x": x, "y": torch._lazy_clone(x)}


def drawn() -> dict[str, str]:
    return {
        "image": memory_order(images(), 1, "channel", title="t", small=True),
        "flattened": memory_order(flattened(), 0, "row", title="t"),
        "lazy": lazy_copy(lazy(), "y.add_(10)", title="t"),
    }


def test_each_strip_is_the_memory_of_its_tensor_and_each_tone_an_index():
    tensors = images()
    rows = rows_of(memory_order(tensors, 1, "channel", title="t"))
    for label, tensor in tensors.items():
        held = [row[2] for row in rows if row[0] == label]
        assert held == [str(value) for value in tensor.as_strided((12,), (1,)).tolist()]
    for _, _, value, channel in rows:
        assert int(value) in tensors["x"][0, channel]
    assert [row[2] for row in rows[12:15]] == ["0", "4", "8"]


def test_each_arrow_leads_from_a_number_to_the_same_number():
    svg = ElementTree.fromstring(memory_order(flattened(), 0, "row", title="t"))
    svg.remove(svg.find(SVG + "svg"))
    values = [e for e in svg.iter(SVG + "text") if e.get("class") == "it-value" and e.text.isdigit()]
    upper, lower = ({float(e.get("x")): e.text for e in strip} for strip in (values[:12], values[12:]))
    lines = [e.get("d") for e in svg.iter(SVG + "path") if e.get("class") == "it-line"]
    ends = [(float(start), float(end)) for start, end in (re.findall(r"^M ([\d.]+) .* ([\d.]+) ", d)[0] for d in lines)]
    assert [upper[start] for start, _ in ends] == [lower[end] for _, end in ends] == ["0", "1", "2", "3"]


def test_the_storage_that_is_written_to_gets_memory_of_its_own():
    tensors = lazy()
    rows = rows_of(lazy_copy(tensors, "y.add_(10)", title="t"))
    assert rows == [
        ["x", "copy on write", "0, 1, 2, 3", "copy on write", "0, 1, 2, 3"],
        ["y", "copy on write", "0, 1, 2, 3", "its own memory", "10, 11, 12, 13"],
    ]
    assert tensors["x"].const_data_ptr() != tensors["y"].const_data_ptr()
    assert rows_of(lazy_copy(lazy(), "x.add_(1)", title="t"))[0][3:] == ["its own memory", "1, 2, 3, 4"]


def test_one_memory_is_drawn_once_before_the_write_and_twice_after():
    svg = ElementTree.fromstring(drawn()["lazy"])
    assert len([e for e in svg.iter(SVG + "rect") if e.get("class") == "it-edge"]) == 3 * 4


@pytest.mark.parametrize("name", drawn())
def test_each_layout_is_plain_and_nothing_of_it_is_cut(name):
    svg = drawn()[name]
    root = ElementTree.fromstring(svg)
    layouts = [(root, NARROW)]
    if (inside := root.find(SVG + "svg")) is not None:
        assert {e.text for e in inside.iter(SVG + "text")} == set(texts(svg))
        root.remove(inside)
        layouts = [(root, WIDE), (inside, NARROW)]
    for layout, room in layouts:
        width, height = numbers(layout, "width", "height")
        assert width <= room + 2 * MARGIN
        for e in layout.iter():
            assert set(e.keys()) <= ATTRIBUTES[e.tag.removeprefix(SVG)]
            assert set((e.get("class") or "").split()) <= set(re.findall(r"\.(figure|it-[\w-]+)", CSS))
        for e in layout.iter(SVG + "rect"):
            x, y, w, h = numbers(e, "x", "y", "width", "height")
            assert min(x, y) >= 0 and x + w <= width and y + h <= height
        for e in layout.iter(SVG + "text"):
            x, y = numbers(e, "x", "y")
            wide = code_width(e.text, 13) * {"start": 0, "middle": 0.5}[e.get("text-anchor")]
            assert wide <= x and y <= height and x + code_width(e.text, 13) - wide <= width + 1


def ordered(x: torch.Tensor, y: torch.Tensor, dim: int = 0, word: str = "row") -> str:
    return memory_order({"x": x, "y": y}, dim, word, title="t")


@pytest.mark.parametrize(
    ("call", "part"),
    [
        (lambda x: ordered(x, x.t()), "do not have two storages"),
        (lambda x: memory_order({"x": x}, 0, "row", title="t"), "do not have two storages"),
        (lambda x: ordered(x, x.clone()[:, :2]), "'y' does not read each cell of its storage once"),
        (lambda x: ordered(x[:1].expand(2, 3), x.clone()), "'x' does not read each cell"),
        (lambda x: ordered(x, x + 1), "do not hold the same numbers"),
        (lambda x: ordered(torch.ones(2, 3), torch.ones(2, 3)), "each once"),
        (lambda x: ordered(x.reshape(6), x.clone()), "3 tones"),
        (lambda x: ordered(torch.arange(14).reshape(2, 7), torch.arange(14)), "12 cells"),
        (lambda x: ordered(x, x.flip(1)), "would cross"),
        (lambda x: ordered(x * 10**6, x * 10**6), "too wide"),
        (lambda x: ordered(x, x.clone(), word=" "), "word must be one line"),
        (lambda x: lazy_copy({"x": x, "y": x.clone()}, "y.add_(1)", title="t"), "is not a row"),
        (lambda x: lazy_copy({"x": x[0], "y": x[0].clone()}, "y.add_(1)", title="t"), "'x' is not a row"),
        (lambda x: lazy_copy({"x": x[0].clone(), "y": x[0].clone()}, "y.add_(1)", title="t"), "are no copies on write"),
        (lambda x: lazy_copy({"x": x[0].clone()}, "x.add_(1)", title="t"), "are no copies on write"),
        (lambda x: lazy_copy(lazy(), "y.sum()", title="t"), r"y.sum\(\) copied nothing"),
        (lambda x: lazy_copy(lazy(), "y.add_(10 ** 9)", title="t"), "wide"),
    ],
)
def test_what_disagrees_or_does_not_fit_raises(call, part):
    with pytest.raises(ValueError, match=part):
        call(torch.arange(6).reshape(2, 3))
