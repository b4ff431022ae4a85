"""What the figure of DDP's buckets promises: the order that hooks saw, and the buckets on their way at each event."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from test_figures import SVG, rows_of
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from inside_torch.drawing.layout import PHONE, READ, WIDE, code_width
from inside_torch.figures import bucket_timeline
from inside_torch.render.figures import checked_figure


@pytest.fixture(autouse=True)
def two_ranks():
    dist.init_process_group("fake", rank=0, world_size=2)
    yield
    dist.destroy_process_group()


def wrapped(*layers: nn.Module, limit=1) -> DistributedDataParallel:
    return DistributedDataParallel(nn.Sequential(*layers), bucket_cap_mb=limit / 2**20)


def linear() -> nn.Linear:
    return nn.Linear(2, 2, bias=False)


def drawn(ddp, loss=lambda ddp: ddp(torch.ones(1, 2)).sum()) -> str:
    return bucket_timeline({"net": ddp}, loss, title="t")


def test_a_bucket_is_on_its_way_from_when_it_is_sent_until_backward_returns():
    rows = [tuple(row[1:]) for row in rows_of(drawn(wrapped(linear(), linear())))]
    assert rows == [
        ("1.weight", "", "bucket 0", ""),
        ("0.weight", "", "bucket 1", "bucket 0"),
        ("wait", "", "", "bucket 0, bucket 1"),
        ("return", "", "", ""),
    ]


def test_one_bucket_is_sent_when_all_gradients_are_there():
    rows = [tuple(row[1:]) for row in rows_of(drawn(wrapped(linear(), linear(), limit=1000)))]
    assert rows == [
        ("1.weight", "bucket 0", "", ""),
        ("0.weight", "", "bucket 0", ""),
        ("wait", "", "", "bucket 0"),
        ("return", "", "", ""),
    ]


def test_gradients_are_put_back():
    ddp = wrapped(linear())
    ddp.module[0].weight.grad = held = torch.ones(2, 2)
    drawn(ddp)
    assert ddp.module[0].weight.grad is held and held.eq(1).all()


def test_both_layouts_cut_nothing():
    svg = checked_figure(drawn(wrapped(linear(), linear())))
    svg.remove(narrow := svg.find(SVG + "svg"))
    for one, width in ((svg, WIDE), (narrow, PHONE)):
        for box in one.iter(SVG + "rect"):
            assert float(box.get("x")) + float(box.get("width")) <= width
        for said in (said for said in one.iter(SVG + "text") if said.get("text-anchor") == "start"):
            assert float(said.get("x")) + code_width(said.text, READ) <= width, said.text


def test_what_disagrees_with_the_figure_raises():
    with pytest.raises(TypeError, match=r"DistributedDataParallel, got Linear"):
        drawn(linear())
    ddp, full = wrapped(linear(), linear()), iter((True, False))
    skips = lambda ddp: ddp(torch.ones(1, 2)).sum() if next(full) else ddp.module[1](torch.ones(1, 2)).sum()  # noqa: E731
    with pytest.raises(ValueError, match=r"must send, wait, and return, in 8 events, and did 1\.weight, return$"):
        drawn(ddp, skips)
    with pytest.raises(ValueError, match=r"in 8 events, and did .* 0\.weight, wait, return$"):
        drawn(wrapped(*(linear() for _ in range(7))))
