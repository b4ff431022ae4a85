"""The figures of a new backend say what the dispatcher's table and a run on a device say. A process has one such device
for good, so each of them is drawn in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
import torch
from conftest import ROOT
from test_figures import ATTRIBUTES, CSS, SVG, rows_of, texts

from inside_torch.drawing.layout import NARROW, WIDE
from inside_torch.render.figures import checked_figure, figure_html

DEVICE = """
import torch
from torch.utils import backend_registration
from inside_torch.figures import two_paths

backend_registration._setup_privateuseone_for_python_backend("toy")
new = torch._C._acc.create_empty_tensor
lib = torch.library.Library("aten", "IMPL")
lib.impl("relu", lambda x: new(x.shape, x.dtype), "PrivateUse1")
x, y = torch.ones(3, requires_grad=True), new((3,), torch.float32).requires_grad_()
relu, exp, plain = torch.ops.aten.relu.default, torch.ops.aten.exp.default, torch.ones(3)
"""
STEPS = """
import torch
from inside_torch.figures import served

def program(device, change=0):
    x = torch.tensor([1.0, -2.0]).to(device)
    yield "x"
    y = (x.relu() + x.exp()).sum()
    yield "y"
    return y + (change if device == "toy" else 0)

def nothing(device):
    return torch.ones(1)
    yield
"""


def drawn(code: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module")
def paths() -> str:
    return drawn(f"{DEVICE}\nprint(two_paths(relu, x, y, title='t'))").stdout


@pytest.fixture(scope="module")
def steps() -> str:
    return drawn(f"{STEPS}\nprint(served(program, 'toy', title='t'))").stdout


def test_what_both_devices_share_is_one_box(paths):
    rows = rows_of(paths)
    assert [(row[1], row[3]) for row in rows] == [
        ("Python", "shared"),
        ("AutogradPrivateUse1", "shared"),
        ("PrivateUse1", "its own"),
    ]
    assert "VariableType" in rows[1][2] and "makes ReluBackward0" in rows[1][2]
    assert rows[2][2].endswith("| a Python function")
    entries = dict(re.findall(r"^(\w+): (.*)$", torch._C._dispatch_dump_table("aten::relu"), re.M))
    assert entries["AutogradCPU"] == entries["AutogradPrivateUse1"] and "VariableType" in entries["AutogradCPU"]
    assert rows[2][2].split(" | ")[0] in entries["CPU"]


def test_two_paths_refuses_what_it_cannot_draw():
    calls = {
        "two_paths(relu, 3, y, title='t')": "each of the two must be a torch.Tensor, got int",
        "two_paths(relu, x, x, title='t')": "the figure compares tensors of two devices",
        "two_paths(relu, plain, y, title='t')": "the figure compares tensors of two devices",
        "two_paths(torch.ops.aten.flip.default, x, y, title='t')": "aten::flip has no kernel for PrivateUse1",
    }
    tried = f"for call in {list(calls)}:\n try: eval(call)\n except (TypeError, ValueError) as e: print(e)"
    said = drawn(f"{DEVICE}\n{tried}").stdout.splitlines()
    assert all(one.startswith(error) for one, error in zip(said, calls.values(), strict=True))


def test_each_operator_stands_under_the_line_that_asked_for_it(steps):
    rows = rows_of(steps)
    by = {kind: [(line, name) for line, one, name, _ in rows if one == kind] for kind in {row[1] for row in rows}}
    assert by["kernel of its own"] == [
        ("x", "empty_strided"),
        ("x", "_copy_from"),
        ("y", "relu"),
        ("y", "empty.memory_format"),
    ]
    assert by["CPU fallback"] == [("y", "exp.out"), ("y", "add.out"), ("y", "sum.IntList_out")]
    assert {name for _, name in by["PyTorch's composite"]} == {"_to_copy", "exp", "add", "sum"}
    assert [n for *_, name, n in rows if name == "empty.memory_format"] == [3]
    assert {"CPU fallback: 3", "kernel of its own: 4"} <= set(texts(steps))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("served(lambda device: program(device, 1), 'toy', title='t')", "toy computes something else than the CPU"),
        ("served(nothing, 'toy', title='t')", "the program has no lines"),
    ],
)
def test_served_refuses_what_it_cannot_draw(call, error):
    assert error in drawn(f"{STEPS}\n{call}").stderr


def test_both_are_plain_and_fit_the_page_and_a_phone(paths, steps):
    for svg in (paths, steps):
        root = ElementTree.fromstring(svg)
        assert float(root.get("width")) <= WIDE
        narrow = next(one for one in root.iter(f"{SVG}svg") if "it-narrow" in one.get("class", ""))
        assert float(narrow.get("width")) <= NARROW + 8
        for element in root.iter():
            assert set(element.keys()) <= ATTRIBUTES[element.tag.removeprefix(SVG)]
        used = {name for value in re.findall(r'class="([^"]+)"', svg) for name in value.split()}
        assert used <= set(re.findall(r"\.(figure|it-[\w-]+)", CSS))
        figure_html(checked_figure(svg), "")


def test_the_same_run_is_the_same_bytes(steps):
    assert drawn(f"{STEPS}\nprint(served(program, 'toy', title='t'))").stdout == steps
