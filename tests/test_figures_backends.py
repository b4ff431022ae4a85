"""The figure of a new backend says what a run on a device says. A process has one such device for good, so each figure
is drawn in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import ROOT
from test_figures import plain_and_fits, rows_of, texts

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
def steps() -> str:
    return drawn(f"{STEPS}\nprint(served(program, 'toy', title='t'))").stdout


def test_each_operator_stands_under_the_line_that_asked_for_it(steps):
    rows = rows_of(steps)
    by = {kind: [(line, name) for line, one, name, _ in rows if one == kind] for kind in {row[1] for row in rows}}
    assert by["kernel of its own"] == [
        ("x", "empty_strided"),
        ("x", "_copy_from"),
        ("y", "empty.memory_format"),
    ]
    assert by["CPU fallback"] == [("y", "relu"), ("y", "exp.out"), ("y", "add.out"), ("y", "sum.IntList_out")]
    assert {name for _, name in by["PyTorch's composite"]} == {"_to_copy", "exp", "add", "sum"}
    assert [n for *_, name, n in rows if name == "empty.memory_format"] == [3]
    assert {"CPU fallback: 4", "kernel of its own: 3"} <= set(texts(steps))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("served(lambda device: program(device, 1), 'toy', title='t')", "toy computes something else than the CPU"),
        ("served(nothing, 'toy', title='t')", "the program has no lines"),
    ],
)
def test_served_refuses_what_it_cannot_draw(call, error):
    assert error in drawn(f"{STEPS}\n{call}").stderr


def test_it_is_plain_and_fits_the_page_and_a_phone(steps):
    plain_and_fits(steps)


def test_the_same_run_is_the_same_bytes(steps):
    assert drawn(f"{STEPS}\nprint(served(program, 'toy', title='t'))").stdout == steps
