"""What the figure of segments promises: true to the snapshots, an error where they disagree, room on a phone."""

from __future__ import annotations

import copy
import re
import xml.etree.ElementTree as ElementTree

import pytest
from test_figures import ATTRIBUTES, CSS, SVG, numbers, rows_of, texts

from inside_torch.drawing.layout import MARGIN, NARROW, WIDE, code_width
from inside_torch.figures import segment_maps

MIB = 2**20


def segment(*blocks: tuple[float, str]) -> dict:
    """In the form of torch.cuda.memory._snapshot(); sizes in MiB."""
    said = [{"size": int(size * MIB), "state": state} for size, state in blocks]
    return {"total_size": sum(block["size"] for block in said), "blocks": said}


def panels() -> dict[str, list[tuple[str, dict]]]:
    two = {"segments": [segment((12, "active_allocated"), (10, "inactive")), segment((22, "active_awaiting_free"))]}
    one = {"segments": [segment((12, "active_allocated"), (48, "inactive"))]}
    return {"several": [("first", {"segments": []}), ("then", two)], "one": [("first", one), ("then", one)]}


def test_the_table_has_each_block_and_what_the_device_keeps():
    one = [[1, 12, "in use"], [1, 48, "free"], ["none", 20, "not reserved"]]
    assert rows_of(segment_maps(panels(), 80, title="t")) == [
        ["several", "first", "none", 80, "not reserved"],
        ["several", "then", 1, 12, "in use"],
        ["several", "then", 1, 10, "free"],
        ["several", "then", 2, 22, "in use"],
        ["several", "then", "none", 36, "not reserved"],
        *[["one", step, *rest] for step in ("first", "then") for rest in one],
    ]


def boxes(layout: ElementTree.Element, kind: str) -> list[list[float]]:
    return [numbers(e, "x", "y", "width", "height") for e in layout.iter(SVG + "rect") if e.get("class") == kind]


def test_a_box_is_as_long_as_its_segment_and_a_filled_one_as_its_block():
    svg = ElementTree.fromstring(segment_maps(panels(), 80, title="t"))
    svg.remove(svg.find(SVG + "svg"))
    unit = boxes(svg, "it-edge it-dashed")[0][2] / 80
    assert [round(width / unit) for _, _, width, _ in boxes(svg, "it-pill")] == [22, 22, 60, 60]
    assert len(boxes(svg, "it-element")) == 4
    for x, y, width, height in boxes(svg, "it-element"):
        around = [box for box in boxes(svg, "it-pill") if box[0] < x and x + width < box[0] + box[2]]
        assert any(box[1] < y and y + height < box[1] + box[3] for box in around)


def test_each_layout_is_plain_and_nothing_of_it_is_cut():
    svg = segment_maps(panels(), 80, title="t")
    root = ElementTree.fromstring(svg)
    inside = root.find(SVG + "svg")
    assert {e.text for e in inside.iter(SVG + "text")} == set(texts(svg))
    root.remove(inside)
    for layout, room in ((root, WIDE), (inside, NARROW + 2 * MARGIN)):
        width, height = numbers(layout, "width", "height")
        assert width <= room
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


def changed(**change) -> dict[str, list[tuple[str, dict]]]:
    """The panels with one entry of the first block of panel `one` changed."""
    given = copy.deepcopy(panels())
    given["one"][0][1]["segments"][0]["blocks"][0].update(change)
    return given


@pytest.mark.parametrize(
    ("given", "part"),
    [
        (changed(size=11 * MIB), "do not fill a segment"),
        (changed(state="lost"), "unknown state 'lost'"),
        ({"one": [("a", {"segments": [segment((1.5, "inactive"))]})]}, "whole MiB"),
        ({"one": [("a", {"segments": [segment((81, "inactive"))]})]}, "segments of 81 MiB on a device of 80"),
        (panels() | {"one": []}, "the same number of steps"),
        ({"one": []}, "the same number of steps"),
        (panels() | {"three": []}, "takes 1 to 2 panels"),
        ({"one": [("a\n", {"segments": []})]}, "a step must be one line"),
        ({"one": [("a" * 60, {"segments": []})]}, "wider than its panel"),
    ],
)
def test_what_disagrees_or_does_not_fit_raises(given, part):
    with pytest.raises(ValueError, match=part):
        segment_maps(given, 80, title="t")
    with pytest.raises(TypeError):
        segment_maps([given], 80, title="t")
