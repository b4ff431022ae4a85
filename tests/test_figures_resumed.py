"""The figure of the frames of a call with graph breaks says what the compiled code does."""

from __future__ import annotations

import pytest
import torch
from test_figures import HOSTILE, rows_of

from inside_torch.figures import resume_frames
from inside_torch.render.figures import checked_figure, figure_html

X = torch.ones(3)


def branch(x):
    return x + 1 if x.sum() > 0 else x - 1


def noisy(x):
    y = x.exp() + 1
    print(end="")
    y = y * 2
    y.tolist()
    return y.sin()


def loop(x):
    for _ in range(2):
        x = x + 1
        print(end="")
    return x


def many(x):
    for _ in range(1):
        pass
    print(end=""), print(end=""), print(end=""), print(end=""), print(end=""), print(end="")
    return x


@pytest.fixture(autouse=True)
def nothing_compiled():
    torch.compiler.reset()


def test_each_frame_has_its_graph_and_each_resume_function_stands_below_its_break():
    assert rows_of(resume_frames(noisy, X, title="t")) == [
        ["noisy", "exp, add", "print"],
        ["resume function", "mul", "tolist"],
        ["resume function", "sin", ""],
    ]


@pytest.mark.parametrize(("x", "calls"), [(X, ["add", "not compiled yet"]), (-X, ["not compiled yet", "sub"])])
def test_a_side_that_was_not_called_is_not_compiled(x, calls):
    frame, *sides = rows_of(svg := resume_frames(branch, x, title=HOSTILE))
    assert frame == ["branch", "sum, gt", "if"]
    assert [called for _, called, _ in sides] == calls
    figure_html(checked_figure(svg), "")


def test_what_has_no_resume_function_is_refused():
    with pytest.raises(TypeError, match=r"f must be a function, got Linear"):
        resume_frames(torch.nn.Linear(2, 2), X, title="t")
    for whole in (lambda x: x + 1, loop):
        with pytest.raises(ValueError, match=r"no graph of .* breaks, or its frame is not compiled"):
            resume_frames(whole, X, title="t")
    with pytest.raises(ValueError, match="7 frames, and at most 6"):
        resume_frames(many, X, title="t")
    with pytest.raises(ValueError, match="many was compiled before"):
        resume_frames(many, X, title="t")
