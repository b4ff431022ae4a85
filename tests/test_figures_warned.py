"""What the figure of warnings promises: the frames that led to each, the one that it points to, and what Python does
by default."""

from __future__ import annotations

import sys

import pytest
from test_figures import plain_and_fits, rows_of, texts

from inside_torch.figures import warned_frames

LIBRARY = """import torch
torch.jit.script(torch.nn.ReLU())
torch.cpu.amp.autocast()
"""
BY_LIBRARY = [
    ["DeprecationWarning", "script, torch/jit/_script.py", "script, torch/jit/_script.py", "hidden by default"],
    ["FutureWarning", "library.py:3, torch.cpu.amp.autocast()", "deprecated, not in torch", "shown by default"],
]


@pytest.fixture(autouse=True)
def library(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "library", raising=False)
    (tmp_path / "library.py").write_text(LIBRARY)
    yield
    sys.modules.pop("library", None)


def test_each_warning_has_its_class_its_place_and_what_python_does():
    svg = warned_frames("import library", title="t")
    assert rows_of(svg) == BY_LIBRARY
    assert {"main program", "library.py:2", "torch.jit.script(torch.nn.ReLU())"} <= set(texts(svg))
    plain_and_fits(svg)


def test_a_warning_that_points_into_the_main_program_is_shown(tmp_path):
    (tmp_path / "library.py").write_text("import warnings\ndef f(): warnings.warn('', DeprecationWarning, 2)\n")
    [[kind, points, caller, python]] = rows_of(warned_frames("import library; library.f()", title="t"))
    assert (kind, python) == ("DeprecationWarning", "shown by default")
    assert (points, caller) == ("main program, import library; library.f()", "f, not in torch")


def test_each_line_of_a_main_program_has_its_first_warning():
    rows = rows_of(warned_frames(LIBRARY, title="t"))
    assert [row[1] for row in rows] == ["script, torch/jit/_script.py", "main program, torch.cpu.amp.autocast()"]


def test_there_is_room_for_two_warnings_and_there_must_be_one():
    with pytest.raises(ValueError, match="got 0"):
        warned_frames("1 + 1", title="t")
    with pytest.raises(ValueError, match="got 3"):
        warned_frames("import warnings; [warnings.warn('', c) for c in (FutureWarning,)]; import library", title="t")
    with pytest.raises(ValueError, match="too wide"):
        warned_frames("import warnings; warnings.warn('old', DeprecationWarning)" + " " * 9 + "#" * 60, title="t")
