"""What the figure of segments promises: its numbers are those of the definition, and what cannot be drawn raises."""

import json
import xml.etree.ElementTree as ElementTree

import pytest
import torch
from test_figures import SVG
from torch import nn

from inside_torch.figures import segment_curves

COUNTS = [1, 2, 4, 8]


def network(pairs=8):
    return nn.Sequential(*(nn.Sequential(nn.Linear(16, 16), nn.Tanh()) for _ in range(pairs)))


def drawn(net=None, x=None, counts=COUNTS, title="Segments"):
    return segment_curves(net or network(), torch.ones(64, 16) if x is None else x, counts, title=title)


def test_kept_and_called_again_follow_from_the_number_of_segments():
    rows = json.loads(ElementTree.fromstring(drawn()).find(SVG + "metadata").text)["rows"]
    kib = 64 * 16 * 4 // 1024
    for segments, peak, kept, again in rows:
        assert kept == kib * (segments + 8 // segments)
        assert again == 2 * 8 * (segments - 1) // segments
        assert peak > kept
    assert [row[0] for row in rows] == COUNTS


def test_the_least_is_marked_and_said():
    svg = drawn()
    assert "Least is kept with 2 segments: 24 KiB" in svg
    assert "kept, least with 2" in svg


def test_the_same_figure_twice_is_the_same_bytes():
    net = network()
    assert drawn(net) == drawn(net)
    assert all(p.grad is None for p in net.parameters())


@pytest.mark.parametrize("counts", [[1], [2, 4], [1, 4, 2], [1, 9], [1, 1]])
def test_counts_rise_from_one(counts):
    with pytest.raises(ValueError, match="rise from 1 to 8"):
        drawn(counts=counts)


def test_other_kinds_are_refused():
    with pytest.raises(TypeError, match="the network must be"):
        drawn(nn.Linear(16, 16))
    with pytest.raises(TypeError, match="the input must be"):
        drawn(x=[1.0])


class Forgetful(nn.Module):
    """A layer whose second run in a step is another one than its first."""

    calls = 0

    def forward(self, x):
        self.calls += 1
        return x * self.calls


def test_other_gradients_are_refused():
    net = nn.Sequential(nn.Linear(4, 4), Forgetful(), nn.Linear(4, 4), nn.Tanh())
    with pytest.raises(ValueError, match="a gradient is another one"):
        drawn(net, torch.ones(2, 4), [1, 2])
