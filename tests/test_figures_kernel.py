"""What the figure of a generated kernel promises: Inductor's own lines, each beside the node that they came with."""

import re

import pytest
import torch
from test_figures import HOSTILE, SVG, rows_of
from torch._inductor import config
from torch._inductor.utils import run_and_get_code

from inside_torch.drawing.layout import PHONE, READ, WIDE, code_width
from inside_torch.figures import kernel_lines
from inside_torch.render.figures import checked_figure

X, B = torch.ones(3, 64), torch.ones(64)


def f(x, b):
    return (x + b).sin() * 2


@pytest.fixture(scope="module")
def drawn() -> str:
    return kernel_lines(f, X, B, title=HOSTILE)


def test_the_lines_are_those_of_the_kernel_that_runs_in_their_order(drawn):
    with config.patch({"cpp.simdlen": 1, "fx_graph_cache": False}):
        _, (code,) = run_and_get_code(torch.compile(f), X, B)
    code = re.sub(r"static_cast<int64_t>\(([^()]*)\)", r"\1", code)
    assert [line for _, line in rows_of(drawn)] == re.findall(r"(?:for\(|auto |out_ptr0\[).*", code)


def test_a_line_stands_beside_the_node_that_it_computes(drawn):
    nodes = {line: node for node, line in rows_of(drawn)}
    made = {"for(": "every", " + tmp": "add", "std::sin": "sin", " * tmp": "mul", "out_": "return"}
    for operation, node in made.items():
        assert {found.split()[0] for line, found in nodes.items() if operation in line} == {node}


def test_both_layouts_show_every_line_in_the_tone_of_its_node(drawn):
    svg = checked_figure(drawn)
    narrow = svg.find(SVG + "svg")
    svg.remove(narrow)
    for one, width in ((svg, WIDE), (narrow, PHONE)):
        bands = one.findall(f"{SVG}g/{SVG}g")
        assert [band.get("class").split()[1] for band in bands] == ["it-3", "it-1", "it-2", "it-3", "it-3"]
        assert all(band.get("tabindex") == "0" and band.get("aria-label") for band in bands)
        said = [text for band in bands for text in band.iter(SVG + "text")]
        assert {line for _, line in rows_of(drawn)} < {text.text for text in said}
        assert all(float(text.get("x")) + code_width(text.text, READ) < width for text in said)


def test_settings_are_put_back_and_the_bytes_are_the_same_again(drawn):
    assert config.cpp.simdlen is None
    assert kernel_lines(f, X, B, title=HOSTILE) == drawn


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: kernel_lines(f, 1, B, title="t"), TypeError, "torch.Tensor, got int"),
        (lambda: kernel_lines(lambda x: x, X, title="t"), ValueError, "1 to 6 nodes, and the graph has 0"),
        (lambda: kernel_lines(lambda x: x @ x, torch.ones(8, 8), title="t"), ValueError, "one kernel is drawn"),
        (lambda: kernel_lines(lambda x: (x + 1).sum(), X, title="t"), ValueError, "changes the lines"),
        (lambda: kernel_lines(torch.relu, X, title="t"), ValueError, "at most 36 characters"),
    ],
)
def test_what_cannot_be_drawn_is_said(call, error, says):
    with pytest.raises(error, match=says):
        call()
