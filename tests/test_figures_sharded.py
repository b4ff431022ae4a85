"""What the figure of a sharded step promises: the collectives, and what a rank holds at each of them."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
import torch.distributed as dist
from test_figures import plain_and_fits, rows_of
from torch import nn
from torch.distributed.fsdp import fully_shard

from inside_torch.figures import shard_timeline


@pytest.fixture(autouse=True)
def four_ranks():
    dist.init_process_group("fake", rank=0, world_size=4)
    yield
    dist.destroy_process_group()


def sharded(sizes=(8, 16, 32, 4), **options) -> tuple:
    model = nn.Sequential(*(nn.Linear(a, b) for a, b in pairwise(sizes)))
    for unit in (*model, model):
        fully_shard(unit, **options)
    return model, dict(zip("abcde", model))


def figure(model, units, optimizer=None) -> str:
    optimizer = optimizer or torch.optim.AdamW(model.parameters())
    return shard_timeline(model, optimizer, units, torch.ones(2, 8), title="t")


def drawn(*given) -> list:
    return rows_of(figure(*given))


def test_units_are_gathered_and_freed_in_the_order_of_torch():
    rows = drawn(*sharded())
    said = " ".join(f"{kind}{unit}" for kind, unit, *_ in rows)
    assert said == "AGa Fa AGb Fb AGc Fc AGc AGb Bc RSc AGa Bb RSb Ba RSa step"
    bytes_of = {"a": (8 + 1) * 16 * 4, "b": (16 + 1) * 32 * 4, "c": (32 + 1) * 4 * 4}
    for _, _, *whole, _, _, _ in rows:
        assert all(size in (0, bytes_of[unit]) for unit, size in zip("abc", whole, strict=True))
    assert max(sum(map(bool, row[2:5])) for row in rows) == 2, "the next unit is gathered early"
    assert not any(rows[-1][2:5])


def test_without_resharding_backward_gathers_nothing():
    rows = drawn(*sharded(reshard_after_forward=False))
    assert [kind for kind, *_ in rows] == ["AG", "F"] * 3 + ["B", "RS"] * 3 + ["step"]
    assert all(rows[5][2:5]), "all units are whole when forward ends"


def test_gradients_state_and_shards_are_those_of_a_rank():
    numbers = (8 + 1) * 16 + (16 + 1) * 32 + (32 + 1) * 4
    for rows in (drawn(*sharded()), drawn(*sharded(reshard_after_forward=False))):
        for row in rows:
            assert row[-2:] == [numbers, 2 * numbers], "a quarter of parameters and of state, 4 and 8 bytes a number"
        gradients = {f"{kind}{unit}": held for kind, unit, *_, held, _, _ in rows}
        assert [gradients["Fa"], gradients["step"]] == [0, numbers]
        assert gradients["Bc"] == (32 + 1) * 4 * 4, "the gradients that it computes"
        assert gradients["RSc"] == (32 + 1) * 4 * 5, "a whole gradient and a shard of it"
        assert gradients["RSb"] == (32 + 1) * 4 + (16 + 1) * 32 * 5


def test_it_is_plain_and_fits_a_phone():
    model, units = sharded()
    svg = figure(model, units)
    plain_and_fits(svg)


def test_what_disagrees_with_the_figure_raises():
    model, units = sharded()
    with pytest.raises(TypeError, match=r"'a' must be a .*FSDPModule, got Linear"):
        drawn(model, {"a": nn.Linear(8, 16)})
    with pytest.raises(ValueError, match="have all parameters of the model"):
        drawn(model, {"a": units["a"]})
    with pytest.raises(ValueError, match="units differ in size"):
        drawn(*sharded((8, 8, 8)))
    with pytest.raises(ValueError, match="padded, or outside of the units"):
        drawn(*sharded((8, 16, 2)))
    with pytest.raises(TypeError, match=r"'optimizer' must be|optimizer must be"):
        drawn(model, units, "AdamW")
    early = torch.optim.AdamW(nn.Linear(8, 16).parameters())
    with pytest.raises(ValueError, match="the optimizer does not have the shards"):
        drawn(model, units, early)
    sgd = torch.optim.SGD(model.parameters(), momentum=0.9)
    sgd.step = lambda: sgd.state["seen"].update(more=torch.zeros(1000))
    with pytest.raises(ValueError, match=r"after the step: .* of state"):
        drawn(model, units, sgd)
    with pytest.raises(ValueError, match="too many for a figure"):
        drawn(*sharded((8, 16, 32, 8, 4)))
