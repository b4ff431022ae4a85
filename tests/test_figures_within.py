"""The figure of a package at work says what was called, and raises when its list of modules is not the one that ran."""

from __future__ import annotations

import json
import re
import sys

import pytest
from conftest import ROOT

from inside_torch.figures import calls_within
from inside_torch.figures.within import counted


@pytest.fixture
def package(tmp_path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "__init__.py").write_text("from . import a, b\n")
    (folder / "a.py").write_text("def one():\n    return [two(n) for n in range(2)]\ndef two(n):\n    return n\n")
    (folder / "b.py").write_text("from . import a\ndef three():\n    return a.two(3)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import small

    yield small
    for name in [name for name in sys.modules if name.split(".")[0] == "small"]:
        del sys.modules[name]


def test_the_calls_of_each_module_are_counted(package):
    assert counted(package, package.a.one) == {"a": 3}
    assert counted(package, package.b.three) == {"a": 1, "b": 1}


def test_the_figure_has_a_row_for_each_module(package):
    svg = calls_within(package, {"first": package.a.one, "second": package.b.three}, ["b", "a"], title="Two modules")
    table = json.loads(re.search(r"<metadata>(.*?)</metadata>", svg)[1].replace("&quot;", '"'))
    assert table == {"columns": ["module", "first", "second"], "rows": [["b", 0, 1], ["a", 3, 1]]}


@pytest.mark.parametrize("modules", [["a"], ["a", "b", "c"]])
def test_a_module_too_many_or_too_few_is_refused(package, modules):
    with pytest.raises(ValueError, match="either called and not in the list, or in the list and not called"):
        calls_within(package, {"all": package.b.three}, modules, title="Wrong")


def test_a_part_that_calls_nothing_is_refused(package):
    with pytest.raises(ValueError, match="idle calls nothing of small"):
        calls_within(package, {"idle": int}, ["a"], title="Idle")


def test_a_figure_is_drawn_anew_when_a_module_of_its_package_changes(monkeypatch: pytest.MonkeyPatch, tmp_path):
    from inside_torch.run import blocks

    program = blocks.Program("from examples.toytorch import nn\n", drawing=True)
    assert len(program.inputs) == 1 + len(list((ROOT / "examples" / "toytorch").glob("*.py")))


def test_a_figure_is_drawn_anew_when_a_program_or_a_recording_that_it_names_changes():
    from inside_torch.run import blocks

    source = 'import examples\nfrom caching_allocator import Allocator\nopen("recordings/allocator.json.gz")\n'
    program = blocks.Program(source, drawing=True)
    for name in ("caching_allocator.py", "recordings/allocator.json.gz", "recordings/against.py"):
        assert (ROOT / "examples" / name).read_text(encoding="latin-1") in program.inputs
    assert blocks.Program(source.replace("examples", "others"), drawing=True).inputs == [
        source.replace("examples", "others")
    ]
    assert blocks.Program(source).inputs == [source]
