"""What the figure of an exported program promises: what the program's own signature and graph say."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
import torch
from test_figures import SVG, rows_of
from torch import nn
from torch.export import Dim, ExportedProgram, export

from inside_torch.figures import exported_program


def model(**options) -> ExportedProgram:
    return export(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), (torch.ones(8, 3),), **options)


def exported(f, *inputs: torch.Tensor) -> ExportedProgram:
    module = nn.Module()
    module.forward = f
    return export(module, inputs)


def test_inputs_are_those_of_the_signature_in_its_order_beside_the_operator_that_takes_them():
    program = model()
    rows = rows_of(exported_program(program, title="t"))
    drawn = {(kind, name) for what, kind, name, _, _ in rows if what == "input"}
    assert drawn == {(s.kind.name, s.target or s.arg.name) for s in program.graph_signature.input_specs}
    assert [row[4] for row in rows if row[0] == "input"] == ["aten.linear"] * 5
    assert [row[2] for row in rows if row[0] == "input"][:3] == ["0.weight", "0.bias", "input"]
    assert [row[2] for row in rows if row[0] == "operator"] == ["aten.linear", "aten.relu", "aten.linear"]
    assert rows[-1] == ["output", "USER_OUTPUT", "linear_1", "(8, 2)", ""]


def test_a_dynamic_size_is_the_symbol_of_the_graph():
    program = model(dynamic_shapes=({0: Dim("rows", min=2, max=64)},))
    (symbol,) = map(str, program.range_constraints)
    rows = rows_of(exported_program(program, title="t"))
    assert {row[3] for row in rows if symbol in row[3]} == {f"({symbol}, {n})" for n in (2, 3, 4)}


def test_a_phone_gets_a_layout_of_its_own():
    svg = ElementTree.fromstring(exported_program(model(), title="t"))
    (narrow,) = (one for one in svg.iter(f"{SVG}svg") if "it-narrow" in one.get("class"))
    assert int(narrow.get("width")) <= 328 < int(svg.get("width")) <= 688


@pytest.mark.parametrize(
    ("f", "said"),
    [
        (lambda x: x.sin() + x, "not a chain"),
        (lambda x: x.sin().cos() + x.tan(), "not a chain"),
        (lambda x: (x.sin(), x.cos()), "not a chain"),
        (lambda x: (x.sin(), x), "returns 2 values"),
        (lambda x: torch.ones(3).sin(), "no operator takes"),
        (lambda x: x, "0 operators"),
        (lambda x: x.sin().sin().sin().sin().sin().sin().sin().sin().sin(), "9 operators"),
    ],
)
def test_what_it_cannot_draw_is_an_error(f, said):
    with pytest.raises(ValueError, match=said):
        exported_program(exported(f, torch.ones(3)), title="t")


def test_what_is_no_program_is_refused():
    with pytest.raises(TypeError):
        exported_program(nn.ReLU(), title="t")
