"""What the figure of flat tensors promises: the steps of live tensors, and an error where torch flattens otherwise."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
import torch
from test_figures import SVG, numbers, rows_of, texts

from inside_torch.drawing.layout import NARROW, WIDE, code_width
from inside_torch.figures import flat_walks


def walked() -> dict[str, torch.Tensor]:
    x = torch.arange(12).reshape(3, 4)
    return {"x[:, ::2]": x[:, ::2], "x[:, :2]": x[:, :2], "x.t()": x.t()}


def test_the_steps_lead_from_element_to_element():
    for label, indices, steps, flat in rows_of(flat_walks(walked(), title="t")):
        tensor = walked()[label]
        assert indices == tensor.flatten().tolist()  # each number is its own position
        assert [indices[0] + sum(steps[:i]) for i in range(len(indices))] == indices
        assert (flat == "view") == (tensor.reshape(-1).data_ptr() == tensor.data_ptr())


def test_the_first_steps_are_arrows_that_do_not_cross():
    svg = ElementTree.fromstring(flat_walks(walked(), title="t"))
    svg.remove(svg.find(SVG + "svg"))
    said = [e.text for e in svg.iter(SVG + "text") if e.text[0] in "+-"]
    assert said == ["+2", "+2", "+2", "+1", "+3", "+1", "+4", "+4", "-7"]
    lines = [e.get("d").split() for e in svg.iter(SVG + "path") if e.get("class") == "it-line"]
    spans = [(float(d[4]), *sorted((float(d[1]), float(d[6])))) for d in lines]
    for i, (level, left, right) in enumerate(spans):
        assert all(right < start or end < left for at, start, end in spans[i + 1 :] if at == level)


def test_an_arrow_over_another_is_left_out():
    svg = ElementTree.fromstring(flat_walks({"x.T": torch.arange(8).reshape(2, 4).T}, title="t"))
    svg.remove(svg.find(SVG + "svg"))
    assert [e.text for e in svg.iter(SVG + "text") if e.text[0] in "+-"] == ["+4", "-3"]


def test_it_fits_a_desktop_and_a_phone():
    svg = ElementTree.fromstring(flat_walks(walked(), title="t"))
    phone = svg.find(SVG + "svg")
    svg.remove(phone)
    for drawn, most in ((svg, WIDE), (phone, NARROW + 8)):
        width, height = numbers(drawn, "width", "height")
        assert width <= most
        for e in drawn.iter(SVG + "text"):
            x, y = numbers(e, "x", "y")
            before = code_width(e.text, 13) * {"start": 0, "middle": 0.5}[e.get("text-anchor")]
            assert before <= x and y <= height and x + code_width(e.text, 13) - before <= width + 1
    assert "steps 2" in " ".join(texts(flat_walks({"x": torch.arange(3)[::2]}, title="t")))
    assert flat_walks({"x": torch.arange(1)}, title="t")


@pytest.mark.parametrize(
    ("call", "part"),
    [
        (lambda x: flat_walks({"x": x, "y": x.clone()}, title="t"), "does not share the storage"),
        (lambda x: flat_walks({"x": x.expand(2, 6)}, title="t"), "'x' reads a cell twice"),
        (lambda x: flat_walks({"x": x * 10**9}, title="t"), "too wide"),
        (lambda x: flat_walks({"a": x, "b": x, "c": x, "d": x}, title="t"), "3"),
    ],
)
def test_what_cannot_be_drawn_raises(call, part):
    with pytest.raises(ValueError, match=part):
        call(torch.arange(6))


def test_a_torch_that_flattens_otherwise_raises(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.Tensor, "reshape", lambda tensor, *size: tensor.clone())
    with pytest.raises(ValueError, match=r"makes a copy of 'x', whose elements are \[1, 1\] apart"):
        flat_walks({"x": torch.arange(3)}, title="t")
