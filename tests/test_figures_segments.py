"""The figure of an allocator shows what its segments hold after each call, and refuses what cannot be."""

from __future__ import annotations

import importlib
import random
from itertools import pairwise

import pytest
from conftest import ROOT
from test_figures import rows_of

from examples.caching_allocator import FREE, MB, PAGES, USED, Allocator, OutOfMemory
from inside_torch.figures import segment_strips
from inside_torch.render.figures import checked_figure, figure_html

CALLS = [("a", 9), ("b", 9), ("c", 8), ("a",), ("d", 8), ("b",), ("e", 11), ("c",)]


def test_each_row_says_what_the_call_did_and_what_is_in_the_segments():
    svg = segment_strips(Allocator(), CALLS, title="t")
    rows = rows_of(svg)
    assert [row[1] for row in rows] == [
        *("new segment, split", "split", "new segment, split", "not merged"),
        *("taken whole", "merged", "taken whole", "merged"),
    ]
    assert rows[3] == ["free(a)", "not merged", "free 9, b 9, free 2 | c 8, free 12"]
    assert rows[-1][2] == "d 8, e 11 | free 20"
    figure_html(checked_figure(svg), "")


class Broken(Allocator):
    """One that forgets to do something."""

    def __init__(self, spoil):
        super().__init__()
        self.spoil = spoil

    def malloc(self, size):
        address = super().malloc(size)
        self.spoil(self.segments[0]["blocks"])
        return address


def short(blocks):
    blocks[-1]["size"] -= 1


def moved(blocks):
    blocks[-1]["address"] += 1


def foreign(blocks):
    blocks[-1]["state"] = USED


def freed(blocks):
    blocks[0]["state"] = FREE


def test_blocks_that_cannot_be_are_refused():
    for spoil, said in ((short, "do not tile"), (moved, "does not follow"), (foreign, "that no call allocated")):
        with pytest.raises(ValueError, match=said):
            segment_strips(Broken(spoil), [("a", 9)], title="t")
    with pytest.raises(ValueError, match="does not follow"):
        segment_strips(Broken(freed), [("a", 9)], title="t")
    with pytest.raises(ValueError, match="too narrow"):
        segment_strips(Allocator(), [("a", 1), ("b", 400)], title="t")


@pytest.mark.parametrize("seed", range(8))
def test_in_the_model_blocks_tile_segments_and_everything_goes_back(seed: int, monkeypatch: pytest.MonkeyPatch):
    draw = random.Random(seed)
    monkeypatch.syspath_prepend(ROOT / "examples")
    expandable = importlib.import_module("expandable_segments")
    kind = expandable.Expandable if seed % 2 else expandable.Allocator
    model = kind(200 * MB, max_split=30 * MB if seed % 3 == 0 else None)
    live = []
    for _ in range(300):
        if live and draw.random() < 0.5:
            model.free(live.pop(draw.randrange(len(live))))
        else:
            try:
                live.append(model.malloc(int(10 ** draw.uniform(1, 7.8)), draw.randrange(2)))
            except OutOfMemory as error:
                assert "reserved by PyTorch but unallocated" in str(error)
        assert len(set(live)) == len(live) and model.reserved <= model.capacity
        for segment in model.segments:
            at, states = segment["address"], []
            for block in segment["blocks"]:
                if gap := block["address"] - at:  # only whole pages of an expandable segment can be missing
                    assert model.expandable and gap > 0 and gap % PAGES[segment["segment_type"]] == 0
                    states.append("gap")
                assert block["size"] > 0
                at, states = block["address"] + block["size"], [*states, block["state"]]
            assert model.expandable or at == segment["address"] + segment["total_size"]
            assert sum(block["size"] for block in segment["blocks"]) == segment["total_size"]
            assert (FREE, FREE) not in pairwise(states)
    for address in live:
        model.free(address)
    model.empty_cache()
    assert model.segments == []
