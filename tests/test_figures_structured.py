"""What the figure of a structured operator promises: torchgen and the headers agree, or it raises."""

import re
from pathlib import Path

import pytest
import torch
from test_figures import HOSTILE, SVG, rows_of

from inside_torch.drawing.layout import PHONE, READ, WIDE, code_width
from inside_torch.figures import structured, wrapper_classes
from inside_torch.render.figures import checked_figure

HEADERS = Path(torch.__file__).parent / "include" / "ATen" / "ops"


@pytest.fixture(scope="module")
def drawn() -> str:
    return wrapper_classes("addmm", title=HOSTILE)


def test_the_classes_of_people_are_those_that_the_headers_declare(drawn):
    (meta, its, by), (impl, does, _) = (row[:3] for row in rows_of(drawn)[:2])
    assert (by, its, does) == ("by hand", f"{meta}::meta", f"{impl}::impl")
    assert f"struct TORCH_API {meta} " in (HEADERS / "addmm_meta.h").read_text(encoding="utf-8")
    declared = (HEADERS / "addmm_native.h").read_text(encoding="utf-8")
    assert f"struct TORCH_API {impl} : public at::meta::{meta} " in declared


def test_each_form_has_a_class_that_deals_with_sizes_in_its_own_way(drawn):
    ends = rows_of(drawn)[2:]
    assert [row[1] for row in ends] == ["create_out", "resize_out", "check_inplace"]
    assert [row[3] for row in ends] == ["wrapper_CPU_addmm", "wrapper_CPU_addmm_out_out", "wrapper_CPU_addmm_"]
    assert all(row[2] == "torchgen" and row[0].startswith("structured_addmm_out_cpu_") for row in ends)


def test_both_layouts_fit_and_the_bytes_are_the_same_again(drawn):
    svg = checked_figure(drawn)
    narrow = svg.find(SVG + "svg")
    svg.remove(narrow)
    for one, width in ((svg, WIDE), (narrow, PHONE)):
        notes = [found.text for found in one.iter(SVG + "text") if "it-note" in found.get("class")]
        assert tuple(notes) == structured.LEGEND
        boxes = ["it-dashed" in box.get("class") for box in one.iter(SVG + "rect") if "it-pill" in box.get("class")]
        assert (boxes.count(False), boxes.count(True)) == (2, 6)
        said = [found for found in one.iter(SVG + "text") if found.get("text-anchor") == "middle"]
        assert max(float(found.get("x")) + code_width(found.text, READ) / 2 for found in said) < width
        assert float(one.get("width")) <= width
    assert wrapper_classes("addmm", title=HOSTILE) == drawn


def test_an_operator_without_a_form_in_place_has_a_class_less():
    rows = rows_of(wrapper_classes("mm", title="t"))
    assert [re.sub(r"\w*_", "", row[0]) for row in rows[2:]] == ["functional", "out"]


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        (3, TypeError, "must be a str"),
        ("nonsense", ValueError, "is not structured"),
        ("trace", ValueError, "is not structured"),
        ("linalg_lu_factor_ex", ValueError, "too wide"),
    ],
)
def test_what_cannot_be_drawn_raises(name, error, says):
    with pytest.raises(error, match=says):
        wrapper_classes(name, title="t")
