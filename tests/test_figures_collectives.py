"""What the figure of collectives promises: what the ranks held, and a refusal of values that come from nowhere."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from test_figures import plain_and_fits, rows_of

from inside_torch.figures import collectives
from inside_torch.render.figures import checked_figure, layouts


def broadcast(x):
    dist.broadcast(x, 1)
    return x


def gather(x):
    y = torch.empty(3, dtype=x.dtype)
    dist.all_gather_single(y, x)
    return y


def scatter(x):
    y = torch.empty(1, dtype=x.dtype)
    dist.reduce_scatter_single(y, x)
    return y


def all_reduce(x):
    dist.all_reduce(x)
    return x


CALLS = {"broadcast": (3, broadcast), "all_gather": (1, gather), "all_reduce": (3, all_reduce)}


def test_each_row_is_what_a_rank_held():
    rows = rows_of(collectives(CALLS, title="t"))
    assert rows[1] == ["broadcast", 1, "10, 20, 30", "10, 20, 30"]
    assert rows[2] == ["broadcast", 2, "100, 200, 300", "10, 20, 30"]
    assert rows[3] == ["all_gather", 0, "1", "1, 10, 100"]
    assert rows[8] == ["all_reduce", 2, "100, 200, 300", "111, 222, 333"]
    assert not dist.is_initialized()


def test_a_panel_can_begin_with_what_another_call_left():
    rows = rows_of(collectives({"gather": (3, gather, scatter)}, title="t"))
    assert rows[1] == ["gather", 1, "222", "111, 222, 333"]


def test_it_is_plain_and_fits_a_phone():
    svg = collectives(CALLS, title="t")
    plain_and_fits(svg)


def test_a_panel_fewer_is_narrower():
    one, three = (
        layouts(checked_figure(collectives(calls, title="t")))[0] for calls in ({"a": CALLS["broadcast"]}, CALLS)
    )
    assert float(one.get("width")) < float(three.get("width")) / 2


def test_what_disagrees_with_the_figure_raises():
    with pytest.raises(ValueError, match=r"plus: no rank gave \[4, 11, 21, 31, 101, 201, 301\]"):
        collectives({"plus": (3, lambda x: x + 1)}, title="t")
    with pytest.raises(ValueError, match=r"twice: no rank gave \[2, 20, 200\]"):
        collectives({"twice": (1, lambda x: x * 2)}, title="t")
    assert not dist.is_initialized(), "a refusal leaves no group open"
    with pytest.raises(ValueError, match="broadcast: a rank gives 1 or 3 cells, got 2"):
        collectives({"broadcast": (2, broadcast)}, title="t")
    with pytest.raises(TypeError, match=r"broadcast must be a .*Callable, got int"):
        collectives({"broadcast": (3, 3)}, title="t")
    with pytest.raises(ValueError, match=r"a name is .* wide, and .* can be drawn"):
        collectives({"a" * 40: (3, broadcast)}, title="t")
    dist.init_process_group("fake", rank=0, world_size=2)
    try:
        with pytest.raises(RuntimeError, match="a process group is open already"):
            collectives(CALLS, title="t")
    finally:
        dist.destroy_process_group()


@pytest.mark.parametrize(
    "change", [('class="it-', 'class="no-'), ('width="', 'width="9'), ("<title", '<title style="x"')]
)
def test_a_figure_that_is_not_plain_or_does_not_fit_is_noticed(change):
    svg = collectives(CALLS, title="t")
    plain_and_fits(svg)
    with pytest.raises((AssertionError, ValueError)):
        plain_and_fits(svg.replace(*change))
