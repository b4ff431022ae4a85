"""The figure of the three stations says where a refused call ends, from the kernels that ran and from the message."""

from __future__ import annotations

import pytest
import torch
from test_figures import HOSTILE, rows_of

from inside_torch.figures import call_stations
from inside_torch.figures.stations import END, STATIONS
from inside_torch.render.figures import checked_figure, figure_html

KEY, CHECKS, DTYPE = STATIONS
X, INTS = torch.eye(2), torch.ones(2, 2, dtype=torch.int64)
SPARSE, META = X.to_sparse(), X.to("meta")


@pytest.mark.parametrize(
    ("call", "place", "said"),
    [
        (SPARSE.max, KEY, "no max for SparseCPU"),
        (lambda: SPARSE.to("meta") @ META, KEY, "no mm for SparseMeta"),
        (lambda: X @ INTS, CHECKS, "mm for CPU"),
        (lambda: torch.addmm(X, META, X), CHECKS, "addmm for Meta"),
        (lambda: INTS.softmax(1), DTYPE, "_softmax for CPU"),
        (lambda: X @ X, END, "mm for CPU"),
        (lambda: META @ META, END, "mm for Meta"),
    ],
)
def test_a_call_ends_where_its_kernels_and_its_message_say(call, place, said):
    assert rows_of(call_stations({"f": call}, title="t")) == [[place, "f", said]]


def test_calls_are_listed_in_the_order_of_the_stations():
    calls = {"a": lambda: X @ X, "b": lambda: X @ INTS, "c": SPARSE.max}
    assert [row[1] for row in rows_of(call_stations(calls, title="t"))] == ["c", "b", "a"]


def test_torch_is_as_before_afterwards():
    before = torch._C._dispatch_dump_table("aten::mm")
    call_stations({"f": lambda: X @ INTS}, title="t")
    assert torch._C._dispatch_dump_table("aten::mm") == before


def raises_inside():
    X @ X
    raise RuntimeError("Could not run 'aten::mm' with arguments from the 'Strange' backend")


def raises_before():
    raise RuntimeError("too early")


@pytest.mark.parametrize(("call", "part"), [(raises_inside, "mm for CPU ran last"), (raises_before, "no kernel ran")])
def test_a_message_that_the_kernels_contradict_is_refused(call, part):
    with pytest.raises(ValueError, match=part):
        call_stations({"f": call}, title="t")


def test_what_is_too_long_is_refused_and_what_is_drawn_can_be_shown():
    with pytest.raises(ValueError, match="too long"):
        call_stations({"f" * 90: SPARSE.max}, title="t")
    svg = call_stations({"f": SPARSE.max}, title=HOSTILE)
    assert svg == call_stations({"f": SPARSE.max}, title=HOSTILE)
    assert figure_html(checked_figure(svg), "")
