"""What the figure of the version check promises: its versions and verdicts are torch's, and else it raises."""

import json
import xml.etree.ElementTree as ElementTree

import pytest
import torch
from test_figures import SVG, texts

from inside_torch.figures import version_check


def drawn(*lines: str, of="h", **names) -> str:
    given = {"w": torch.tensor([1.0, 2.0], requires_grad=True)} | names
    return version_check(list(lines), given, of, title="A check")


def rows(svg: str) -> list:
    return json.loads(ElementTree.fromstring(svg).find(SVG + "metadata").text)["rows"]


def test_a_write_between_save_and_backward_is_refused():
    svg = drawn("h = w.exp()", "h += 1", "y = h.sin()", "y.sum().backward()")
    assert rows(svg) == [
        ["h = w.exp()", "0", "saves h at 0", ""],
        ["h += 1", "1", "", ""],
        ["y = h.sin()", "1", "", "saves h at 1"],
        ["y.sum().backward()", "1", "0 ≠ 1: refused", "1 = 1: runs"],
    ]
    assert {"ExpBackward0", "SinBackward0"} <= set(texts(svg))


def test_without_a_write_all_nodes_run():
    assert rows(drawn("h = w.exp()", "h.sum().backward()"))[-1] == ["h.sum().backward()", "0", "0 = 0: runs"]


def test_a_phone_names_the_node_in_each_note():
    assert "ExpBackward0: saves h at 0" in texts(drawn("h = w.exp()", "h.sum().backward()"))


def test_the_same_figure_twice_is_the_same_bytes():
    lines = "h = w.exp()", "h += 1", "h.sum().backward()"
    assert drawn(*lines) == drawn(*lines)


def test_what_cannot_be_told_raises():
    with pytest.raises(ValueError, match="no node saved h"):
        drawn("h = w * 3", "h.sum().backward()")
    with pytest.raises(ValueError, match="torch said None"):
        drawn("h = w.exp()", "h += 1", "pass")
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        drawn("h = w.exp()", "h.backward()")
    with pytest.raises(ValueError, match="too wide"):
        drawn("h = w.exp()", f"y = {'h + ' * 40}h", "y.sum().backward()")
