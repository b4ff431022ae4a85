"""What the figure of counts promises: bars as long as the counts, each number drawn, an error for what is no count."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from test_figures import SVG, numbers, plain_and_fits, rows_of, texts

from inside_torch.figures import count_bars

BARS = {"before": {"mended": 30, "left": 10}, "after": {"mended": 0, "left": 10}}


def test_the_table_and_the_drawing_have_each_count():
    svg = count_bars(BARS, title="t")
    assert rows_of(svg) == [["before", 30, 10], ["after", 0, 10]]
    assert [said for said in texts(svg) if said.isdigit()] == ["30", "10", "10"] * 2, "no 0, and a layout for phones"


def test_a_part_is_as_long_as_its_count():
    svg = ElementTree.fromstring(count_bars(BARS, title="t"))
    svg.remove(svg.find(SVG + "svg"))
    parts = [numbers(e, "x", "width") for e in svg.iter(SVG + "rect") if e.get("height") == "18"]
    unit = (parts[1][0] - parts[0][0]) / 30
    assert [round((width + 1.6) / unit, 2) for _, width in parts] == [30, 10, 10]
    assert parts[2][0] == parts[0][0], "a bar without its first part begins with the second"


def test_it_is_plain_and_fits_a_phone():
    plain_and_fits(count_bars(BARS, title="t"))


@pytest.mark.parametrize(
    ("bars", "error", "part"),
    [
        ({}, ValueError, "takes 1 to 6 bars"),
        ({"a": 3}, TypeError, "'a' must be a dict"),
        ({"a": {"b": 0.5}}, TypeError, "'b' must be a int"),
        ({"a": {"b": 1}, "c": {"d": 1}}, ValueError, "each bar has the parts"),
        ({"a": {"b": -1}}, ValueError, "below 0"),
        ({"a": {"b": 0}}, ValueError, "all counts are 0"),
        ({"a": {"b": 1, "c": 1000}}, ValueError, "no room for its number"),
        ({"a" * 90: {"b": 1}}, ValueError, "wider than the figure"),
        ({"a": {"b" * 90: 1}}, ValueError, "wider than the figure"),
    ],
)
def test_what_is_no_count_or_does_not_fit_raises(bars, error, part):
    with pytest.raises(error, match=part):
        count_bars(bars, title="t")
