"""What the figure of an operator's entry promises: the yaml files, torchgen and the dispatcher agree, or it raises."""

import re
from pathlib import Path

import pytest
import torch
from test_figures import HOSTILE, SVG, rows_of
from torchgen import dest

from inside_torch.drawing.layout import PHONE, READ, WIDE, code_width
from inside_torch.figures import entry, yaml_path
from inside_torch.render.figures import checked_figure

FAILS = "x = torch.ones(2, 2, dtype=torch.bool); torch.addmm(x, x, x)"
HEADERS = Path(torch.__file__).parent / "include" / "ATen" / "ops"


@pytest.fixture(scope="module")
def drawn() -> str:
    return yaml_path("addmm", title=HOSTILE, fails=FAILS)


def test_the_files_are_those_that_the_dispatcher_remembers(drawn):
    table = torch._C._dispatch_dump_table("aten::addmm")
    rows = rows_of(drawn)
    for i, key in ((0, "AutogradCPU"), (2, "CPU")):
        file = re.search(rf"^{key}: registered at \S*?(\w+\.cpp):", table, re.M)[1]
        assert rows[i] == [key, "slot", ""] and rows[i + 1][1:] == [file, "torchgen"]


def test_the_way_is_that_of_the_stack_down_to_the_function_that_failed(drawn):
    heads = [head for head, _, _ in rows_of(drawn)]
    assert heads == [
        *("AutogradCPU", "VariableType::addmm", "CPU", "wrapper_CPU_addmm"),
        *("structured_addmm_out_cpu::impl", "addmm_impl_cpu_", "native_functions.yaml", "structured_addmm_out_cpu"),
    ]
    with pytest.raises(ValueError, match="does not come through VariableType::addmm"):
        yaml_path("addmm", title="t", fails="torch.ones(2).add(torch.ones(3))")
    with pytest.raises(TypeError, match="must be a str"):
        yaml_path("addmm", title="t", fails=3)


def test_the_functions_written_by_hand_are_those_that_the_headers_declare(drawn):
    impl, said, by = rows_of(drawn)[4]
    meta, impl = re.findall(r"structured_\w+(?=::)", f"{said} {impl}")
    assert by == "by hand"
    assert f"struct TORCH_API {meta} " in (HEADERS / "addmm_meta.h").read_text(encoding="utf-8")
    assert f"struct TORCH_API {impl} " in (HEADERS / "addmm_native.h").read_text(encoding="utf-8")
    plain, _, by = rows_of(yaml_path("relu", title="t"))[4]
    declared = (HEADERS / "relu_native.h").read_text(encoding="utf-8")
    assert (plain, by) == ("at::native::relu", "by hand") and "TORCH_API at::Tensor relu(const" in declared


def test_a_long_name_is_broken_and_whole_in_the_table():
    drawn = yaml_path("_log_softmax", title="t")
    assert rows_of(drawn)[4][0] == "structured_log_softmax_cpu_out::impl"
    lines = [line.text for line in checked_figure(drawn).iter(SVG + "text")]
    assert "structured_" in lines and "log_softmax_cpu_out::impl" in lines
    with pytest.raises(ValueError, match="too wide"):
        yaml_path("max_pool2d_with_indices", title="t")


def test_what_torchgen_writes_is_dashed_and_both_layouts_fit(drawn):
    svg = checked_figure(drawn)
    narrow = svg.find(SVG + "svg")
    svg.remove(narrow)
    for one, width in ((svg, WIDE), (narrow, PHONE)):
        assert sum("it-dashed" in box.get("class") for box in one.iter(SVG + "rect")) == 3
        notes = [found.text for found in one.iter(SVG + "text") if "it-note" in found.get("class")]
        assert {"1", "2 calls again", "3", "4", "5", *entry.LEGEND} == set(notes)
        written = [found.text for found in one.iter(SVG + "text") if found.text in ("torchgen", "by hand")]
        assert written.count("torchgen") == 3 and written.count("by hand") == 3
        said = [found for found in one.iter(SVG + "text") if found.get("text-anchor") == "middle"]
        ends = [float(found.get("x")) + code_width(found.text, READ) / 2 for found in said]
        assert max(ends) < width and float(one.get("width")) <= width


def test_with_its_inputs_each_file_leads_to_what_torchgen_makes_of_it():
    drawn = yaml_path("masked_select", title="t", inputs=True)
    formula, named = rows_of(drawn)[-2:]
    assert formula == ["derivatives.yaml", "masked_select: self: masked_select_backward(...)", "by hand"]
    assert named == ["native_functions.yaml", "masked_select: CPU: masked_select_cpu", "by hand"]
    desc = checked_figure(drawn).find(SVG + "desc").text
    assert re.findall(r"From (\w+\.yaml) .*? writes ([\w:]+)\.", desc) == [
        ("derivatives.yaml", "VariableType::masked_select"),
        ("native_functions.yaml", "wrapper_CPU__masked_select"),
    ]
    assert drawn.count(entry.READ_BY) == 2 and entry.LEGEND[2] not in drawn


def test_an_operator_with_an_overload_is_drawn_and_the_bytes_are_the_same_again(drawn):
    said = str(rows_of(yaml_path("max.dim", title="t")))
    (meta,) = re.findall(r"structured_\w+(?=::meta)", said)
    assert f"struct TORCH_API {meta} " in (HEADERS / "max_meta.h").read_text(encoding="utf-8")
    assert "VariableType::max_dim" in said
    assert yaml_path("addmm", title=HOSTILE, fails=FAILS) == drawn


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        (3, TypeError, "must be a str"),
        ("nonsense", ValueError, "no entry in native_functions.yaml"),
        ("ones", ValueError, "no entry in derivatives.yaml"),
        ("linear", ValueError, "names no kernel for the CPU"),
        ("sum", ValueError, "names no kernel for the CPU"),
        ("linalg_lu_factor_ex", ValueError, "too wide"),
    ],
)
def test_what_cannot_be_drawn_raises(name, error, says):
    with pytest.raises(error, match=says):
        yaml_path(name, title="t")


def test_it_raises_when_the_dispatcher_has_another_kernel(monkeypatch):
    monkeypatch.setattr(entry, "registered", lambda name: {"AutogradCPU": "VariableType_0.cpp", "CPU": "mine.py"})
    with pytest.raises(ValueError, match=r"the dispatcher has mine\.py for CPU"):
        yaml_path("addmm", title="t")


def test_it_raises_when_the_header_declares_something_else(monkeypatch):
    monkeypatch.setattr(dest, "compute_native_function_declaration", lambda *given: ["struct nothing"])
    with pytest.raises(ValueError, match="does not declare"):
        yaml_path("addmm", title="t")
