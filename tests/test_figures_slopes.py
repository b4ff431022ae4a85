"""What the figure of formulas promises: dots are what backward sends, rings are measured slopes, at their places."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
import torch
from test_figures import CSS, SVG, rows_of

from inside_torch.figures import slope_dots
from inside_torch.render.figures import checked_figure


def circles(svg: str) -> list[tuple[str, float, float]]:
    root = ElementTree.fromstring(svg)
    for narrow in root.findall(SVG + "svg"):
        root.remove(narrow)
    return [(e.get("class"), float(e.get("cx")), float(e.get("cy"))) for e in root.iter(SVG + "circle")]


def test_rows_and_circles_are_what_backward_sends_and_what_is_measured():
    svg = slope_dots({"a.relu()": "f"}, {}, title="t")
    assert [row[1:] for row in rows_of(svg)] == [
        [-1.0, 0.0, 0.0],
        [-0.5, 0.0, 0.0],
        [0.0, 0.0, 0.5],
        [0.5, 1.0, 1.0],
        [1.0, 1.0, 1.0],
    ]
    *found, key, ring = circles(svg)
    assert (key[0], ring[0]) == ("it-head", "it-line")
    dots, rings = found[::2], found[1::2]
    assert [dot[1] for dot in dots] == [ring[1] for ring in rings] == sorted(dot[1] for dot in dots)
    low, high = dots[0][2], dots[-1][2]
    assert low > high and [dot[2] for dot in dots] == [low, low, low, high, high]
    assert [ring[2] for ring in rings] == [low, low, (low + high) / 2, high, high]


def test_the_description_says_where_dot_and_ring_part():
    svg = slope_dots({"a.relu()": "f", "(a + a.abs()) / 2": "g"}, {}, title="t")
    desc = checked_figure(svg).find(SVG + "desc").text
    assert "a.relu(): dot and ring part at 0; (a + a.abs()) / 2: all agree" in desc


def test_classes_are_styled_and_a_phone_has_room():
    root = checked_figure(slope_dots(dict.fromkeys(("a.relu()", "a * 1", "a * b"), "f"), {"b": 1}, title="t"))
    (narrow,) = root.findall(SVG + "svg")
    assert int(root.get("width")) <= 688 and int(narrow.get("width")) <= 328
    for shape in root.iter():
        assert all(f".{name}" in CSS for name in shape.get("class", "figure").split())


@pytest.mark.parametrize(
    ("formulas", "names", "error", "said"),
    [
        ([], {}, TypeError, "formulas must be a dict"),
        ({"a.relu()": 1}, {}, TypeError, "must be a str"),
        ({"a * 1": "f"}, [], TypeError, "names must be a dict"),
        ({}, {}, ValueError, "1 to 3 formulas"),
        ({"a * 1": " "}, {}, ValueError, "a formula must be one line"),
        ({"a.detach()": "f"}, {}, ValueError, "not one float64 with a graph"),
        ({"a.item()": "f"}, {}, ValueError, "not one float64 with a graph"),
        ({"torch.stack([a, a])": "f"}, {"torch": torch}, ValueError, "not one float64 with a graph"),
        ({"a * 2": "f"}, {}, ValueError, "has a slope of 2.0"),
        ({"a * " + "1 * " * 9 + "1": "f"}, {}, ValueError, "wider"),
    ],
)
def test_what_it_cannot_draw_is_refused(formulas, names, error, said):
    with pytest.raises(error, match=said):
        slope_dots(formulas, names, title="t")
