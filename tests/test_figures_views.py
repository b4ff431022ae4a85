"""What the figures of views promise: true to the live tensors, an error where these disagree, room on a phone."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import torch
from test_figures import ATTRIBUTES, SVG, numbers, rows_of, texts

from inside_torch.drawing.layout import MARGIN, NARROW, WIDE, code_width
from inside_torch.figures import object_chain, view_groups, write_counted
from inside_torch.render.figures import checked_figure, figure_html


class Elsewhere(torch.Tensor):
    """A tensor that says another offset than it has."""

    def storage_offset(self):
        return 1


class Stubborn(torch.Tensor):
    """A tensor whose `view` refuses what its strides allow."""

    def view(self, *shape):
        raise RuntimeError("no")


def filled(svg: str) -> set[str]:
    """What stands in the cells that are filled."""
    return set(re.findall(r'"it-fill"[^>]*/></g><rect class="it-edge"[^>]*/><text class="it-value"[^>]*>([^<]*)<', svg))


def counted() -> dict[str, torch.Tensor]:
    x = torch.arange(6).reshape(2, 3)
    return {"x": x, "row": x[0], "column": x[:, 0], "data": x.data}


def drawn() -> dict[str, str]:
    """The figures, each at its widest on a page."""
    x = torch.ones(8, 3)
    y = x.t()
    z = torch.arange(32).reshape(2, 2, 2, 4)
    return {
        "one": object_chain({"x": x}, title="t"),
        "two": object_chain({"x": x, "y": y}, title="t"),
        "groups": view_groups(z[:, :, :, ::2], name="z", title="t"),
        "apart": view_groups(torch.arange(24).reshape(2, 3, 4).transpose(0, 1), name="z", title="t"),
        "write": write_counted(counted(), "row.mul_(10)", title="t"),
    }


def test_the_chain_has_both_counts_and_the_fields_of_each_tensor():
    x = torch.ones(8, 3)
    y = x.t()
    rows = rows_of(object_chain({"x": x, "y": y}, title="t"))
    assert rows[0] == ["x", "Tensor, refcount 2"] and rows[1] == ["y", "Tensor, refcount 1"]
    assert rows[2] == ["TensorImpl of x", f"sizes (8, 3), strides (3, 1), offset 0, use count {x._use_count()}"]
    assert rows[3] == ["TensorImpl of y", f"sizes (3, 8), strides (1, 3), offset 0, use count {y._use_count()}"]
    assert rows[4] == ["StorageImpl", "96 bytes, use count 2"]


def test_one_owner_more_shows_in_the_count_that_it_belongs_to():
    x = torch.ones(3)
    assert [held for _, held in rows_of(object_chain({"x": x}, title="t"))[:3]] == [
        "Tensor, refcount 1",
        "sizes (3,), strides (1,), offset 0, use count 1",
        "12 bytes, use count 1",
    ]
    names = [x, x]
    assert rows_of(object_chain({"x": x}, title="t"))[0][1] == f"Tensor, refcount {1 + len(names)}"
    shared = x.detach()
    assert rows_of(object_chain({"x": x}, title="t"))[2][1] == "12 bytes, use count 2"
    svg = object_chain({"x": x, "shared": shared}, title="t")
    assert "base" not in texts(svg) and "base" in texts(drawn()["two"])


def test_groups_are_what_view_joins():
    y = torch.arange(24).reshape(2, 3, 4)[:, 1:]
    svg = view_groups(y, name="y", title="t")
    assert [row[3:] for row in rows_of(svg)] == [[False, "12 ≠ 2 · 4"], [True, "4 = 4 · 1"], ["", ""]]
    assert {"2 elements, step 12", "8 elements, step 1"} <= set(texts(svg))
    assert texts(svg).count("next") == 2 * 1 and "above a cell: its position" not in texts(svg)
    assert {"filled: a walk of 8 elements", "one more step leads to 12"} <= set(texts(svg))
    assert "arrow: where the next walk starts" in texts(svg) and svg.count('class="it-head"') == 2 * 1
    assert filled(svg) == {str(index) for index in range(4, 12)}
    assert y.view(2, 8).stride() == (12, 1)


def test_next_stands_under_the_walk_that_comes_next_and_not_where_one_more_step_leads():
    out = torch.arange(12).reshape(2, 3, 2)
    svg = view_groups(out.transpose(0, 1), name="y", title="t")
    assert "one more step leads to 2" in texts(svg) and svg.count('class="it-head"') == 2 * 5
    middles = {
        said: re.findall(rf'<text class="{name}" x="([\d.]+)"[^>]*>{said}<', svg)
        for name, said in (("it-value", "6"), ("it-step", "next"))
    }
    assert len(middles["next"]) == 2 and middles["6"] == middles["next"]


def test_what_one_stride_can_walk_is_filled_whole():
    y = torch.arange(12).reshape(3, 4)[:, ::2]
    svg = view_groups(y, name="y", title="t")
    assert "filled: what y reads" in texts(svg) and not any("walk" in said for said in texts(svg))
    assert filled(svg) == {str(index) for index in range(0, 12, 2)}


def test_starts_side_by_side_are_arrows_and_an_index_stands_where_the_value_is_another():
    svg = view_groups(torch.arange(1, 13).reshape(3, 4).t(), name="y", title="t")
    assert texts(svg).count("next") == 2 * 1 and svg.count('class="it-head"') == 2 * 3
    assert {"above a cell: its position", "filled: a walk of 3 elements", "0"} <= set(texts(svg))
    assert {"one more step leads to 12", "arrows: where the other walks start"} <= set(texts(svg))
    assert filled(svg) == {"1", "5", "9"}


def test_a_write_counts_for_those_that_share_the_counter():
    tensors = counted()
    rows = rows_of(write_counted(tensors, "row.mul_(10)", title="t"))
    assert [row[0] for row in rows[:4] if row[3] > row[2]] == ["x", "row", "column"]
    assert rows[-1] == ["storage", "all", "0, 1, 2, 3, 4, 5", "0, 10, 20, 3, 4, 5"]
    assert [tensor._version for tensor in tensors.values()] == [1, 1, 1, 0]


@pytest.mark.parametrize("name", drawn())
def test_both_layouts_are_plain_and_nothing_of_them_is_cut(name):
    svg = drawn()[name]
    root = ElementTree.fromstring(svg)
    inside = root.find(SVG + "svg")
    assert {e.text for e in inside.iter(SVG + "text")} == set(texts(svg))
    root.remove(inside)
    for layout, room in ((root, WIDE), (inside, NARROW)):
        width, height = numbers(layout, "width", "height")
        assert width <= room + 2 * MARGIN
        for e in layout.iter():
            assert set(e.keys()) <= ATTRIBUTES[e.tag.removeprefix(SVG)]
        for e in layout.iter(SVG + "rect"):
            x, y, w, h = numbers(e, "x", "y", "width", "height")
            assert min(x, y) >= 0 and x + w <= width and y + h <= height
        for e in layout.iter(SVG + "text"):
            x, y = numbers(e, "x", "y")
            wide = code_width(e.text, 13) * {"start": 0, "middle": 0.5}[e.get("text-anchor")]
            assert wide <= x and y <= height
            if e.get("class") != "it-note":  # these are not monospaced, and narrower
                assert x + code_width(e.text, 13) - wide <= width + 1


def test_a_page_gets_two_drawings_and_a_phone_sees_the_second():
    html = figure_html(checked_figure(drawn()["two"]), "")
    assert html.count("<svg") == 2 and html.index("</svg>") < html.index("it-narrow")


@pytest.mark.parametrize(
    ("call", "part"),
    [
        (lambda x: object_chain({"x": x, "y": x.clone()}, title="t"), "do not share a storage"),
        (lambda x: object_chain({"x": x, "y": x}, title="t"), "are one tensor"),
        (lambda x: object_chain({"x": torch.from_numpy(np.ones(3))}, title="t"), "no allocator of torch"),
        (lambda x: object_chain({"x": x.as_subclass(Elsewhere)}, title="t"), "'x' does not begin at its offset"),
        (lambda x: object_chain({"x": x.view(1, 1, 1, 1, 1, 6)}, title="t"), "too wide"),
        (lambda x: view_groups(x.as_subclass(Stubborn), name="x", title="t"), "dimensions 0 and 1 of 'x'"),
        (lambda x: view_groups(x.view(6), name="x", title="t"), "at least two dimensions"),
        (lambda x: view_groups(x[0].expand(2, 3), name="x", title="t"), "reads a cell twice"),
        (lambda x: view_groups(x.view(6, 1), name="x", title="t"), "longer than 1"),
        (lambda x: write_counted({"x": x}, "x.data.add_(1)", title="t"), r"moved the versions of \['x'\] by \[0\]"),
        (lambda x: write_counted({"x": x, "d": x.data}, "(x.add_(1), d.add_(1), d.add_(1))", title="t"), r"\[1, 2\]"),
        (lambda x: write_counted({"x": x}, "x.add_(0)", title="t"), "changed no value"),
        (lambda x: write_counted({"x": x, "y": x.clone()}, "x.add_(1)", title="t"), "does not share"),
        (lambda x: write_counted({"x": x.mul_(1000)}, "x.add_(1)", title="t"), "wide"),
    ],
)
def test_what_disagrees_or_does_not_fit_raises(call, part):
    with pytest.raises(ValueError, match=part):
        call(torch.arange(6).reshape(2, 3))
