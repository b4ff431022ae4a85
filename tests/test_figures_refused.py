"""What the figure of refused names promises: each line runs, and its own message says which name, and where."""

from __future__ import annotations

import pytest
import torch
from test_figures import plain_and_fits, rows_of
from torch import nn

from inside_torch.figures import refused_names

LINES = """from torch._six import string_classes
torch.symeig(x)
torch.jit.script(net)
torch.compile(net, backend="tvm")(x)
torch.load("net.pt")"""
LOOK = ["a", "b", "c", "d", "e"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "tvm.py").write_text("")


def given() -> dict:
    net = nn.Sequential(nn.Linear(3, 3))
    torch.save(net, "net.pt")
    return {"torch": torch, "net": net, "x": torch.eye(3)}


def drawn(lines: str = LINES) -> str:
    return refused_names(lines, given, LOOK[: len(lines.splitlines())], title="t")


def test_each_name_stands_where_its_message_says():
    assert rows_of(drawn()) == [
        [1, "torch._six", "in the program", "is gone", "a"],
        [2, "torch.symeig", "in the program", "only raises an error", "b"],
        [3, "torch.jit.script", "in the program", "warns", "c"],
        [4, "relay", "in a package", "is missing from tvm", "d"],
        [5, "Sequential", "in a file", "torch.load refuses it", "e"],
    ]


def test_a_line_that_runs_has_no_name():
    with pytest.raises(ValueError, match=r"nothing is refused: torch\.ones"):
        drawn("torch.ones(2)")
    with pytest.raises(ValueError, match="no name: division"):
        drawn("1 / 0")


def test_it_is_plain_and_fits_a_phone():
    plain_and_fits(drawn())
