"""What the timeline of memory promises: each byte counted and of one kind, the same everywhere, or no figure."""

import functools
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
import torch
from conftest import ROOT
from test_figures import SVG, rows_of
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker

from inside_torch.drawing.layout import PHONE, READ, WIDE
from inside_torch.figures import memory_timeline
from inside_torch.figures.alive import KINDS, memory_rows
from inside_torch.figures.timeline import LETTER
from inside_torch.render.figures import checked_figure

PROGRAM = """\
import hashlib, sys
sys.path[:0] = ["tests", "."]
from test_figures_timeline import drawn, training
print(hashlib.sha256(drawn(*training()).encode()).hexdigest())
"""


def in_a_process_of_its_own(test):
    """Tests of the dispatcher put functions in front of kernels, and fake tensors still meet them when their library is
    gone. A test with fake tensors runs where no other did."""

    @functools.wraps(test)
    def alone():
        program = f"import sys; sys.path[:0] = ['tests', '.']; import {test.__module__} as tests; "
        command = [sys.executable, "-c", f"{program}tests.{test.__name__}.__wrapped__()"]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
        assert ran.returncode == 0, ran.stderr

    return alone


def training(hidden=4, rows=8, optimizer=torch.optim.AdamW):
    """Model, optimizer, batch and the calls of one step, in the order of the ten lines."""
    torch.manual_seed(0)
    x, target = torch.randn(rows, 3), torch.randint(2, (rows,))
    model = nn.Sequential(nn.Linear(3, hidden), nn.ReLU(), nn.Linear(hidden, 2))
    optimizer, held = optimizer(model.parameters(), lr=0.01), {}

    def forward():
        held["loss"] = nn.functional.cross_entropy(model(x), target)

    phases = {"forward": forward, "zero_grad": optimizer.zero_grad}
    phases |= {"backward": lambda: held["loss"].backward(), "step": optimizer.step}
    return model, optimizer, (x, target), phases


def drawn(model, optimizer, batch, phases, title="Memory"):
    return memory_timeline(phases, model, optimizer, batch, title=title)


def test_the_kinds_at_the_peak_are_those_of_the_memory_tracker():
    model, optimizer, batch, phases = training()
    rows = rows_of(drawn(model, optimizer, batch, phases))
    peak = max(rows, key=lambda row: sum(row[2:]))
    tracker = MemTracker()
    tracker.track_external(model, optimizer, *batch)
    with tracker:
        for call in phases.values():
            call()
    seen = {
        getattr(kind, "value", kind): n for kind, n in tracker.get_tracker_snapshot("peak")[batch[0].device].items()
    }
    names = ("Parameter", "Optstate", "Gradient", "Other", "Activation", "Temp")
    expected = [seen[name] for name in names]
    expected[4:] = expected[4] - 4, expected[5] + 4  # what backward starts from: the tracker calls it an activation
    assert peak[2:] == expected and sum(peak[2:]) == seen["Total"]
    assert peak[0] == "backward"


def test_each_row_changes_by_what_it_says_and_the_tensors_are_the_first_and_last():
    model, optimizer, batch, phases = training()
    rows = rows_of(drawn(model, optimizer, batch, phases))
    assert [row[0] for row in rows] == sorted((row[0] for row in rows), key=list(phases).index)
    for before, after in pairwise(rows):
        assert sum(after[2:]) - sum(before[2:]) == int(after[1])
    weights = sum(w.nbytes for w in model.parameters())
    state = sum(t.nbytes for held in optimizer.state.values() for t in held.values())
    for row in (rows[0], rows[-1]):
        found = dict(zip(KINDS, row[2:]))
        assert found["parameters"] == found["gradients"] == weights and found["optimizer state"] == state
        assert found["batch"] == sum(t.nbytes for t in batch) and found["activations"] == 4 and not found["temporaries"]


def test_the_peak_moves_into_the_step_where_parameters_outweigh_the_batch():
    rows = rows_of(drawn(*training(hidden=512, rows=2)))
    assert max(rows, key=lambda row: sum(row[2:]))[0] == "step"


def test_the_same_bytes_in_another_process():
    ran = [subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True) for _ in range(2)]
    assert ran[0].stdout == ran[1].stdout and len(ran[0].stdout) == 65, ran[0].stderr


def test_every_kind_has_its_name_and_no_text_is_cut():
    svg = checked_figure(drawn(*training()))
    narrow = svg.find(SVG + "svg")
    svg.remove(narrow)
    for one, width in ((svg, WIDE), (narrow, PHONE)):
        said = [text.text for text in one.iter(SVG + "text")]
        assert set(KINDS) <= set(said) and "peak: 920 bytes" in said
        for text in one.iter(SVG + "text"):
            half = len(text.text) * READ * LETTER / (2 if text.get("text-anchor") == "middle" else 1)
            left = text.get("text-anchor") == "start"
            assert float(text.get("x")) + (0 if text.get("text-anchor") == "end" else half) < width, text.text
            assert left or float(text.get("x")) - half > 0, text.text


def test_what_cannot_be_drawn_raises():
    model, optimizer, batch, phases = training()
    with pytest.raises(ValueError, match="must be forward"):
        drawn(model, optimizer, batch, {"step": optimizer.step})
    with pytest.raises(TypeError, match="batch must be a tuple"):
        drawn(model, optimizer, batch[0], phases)
    with pytest.raises(ValueError, match="allocate no memory"):
        drawn(model, optimizer, batch, {"forward": int})
    leak = []
    with pytest.raises(ValueError, match="of no kind are left"):
        drawn(model, optimizer, batch, phases | {"step": lambda: leak.append(torch.ones(9))})


def test_a_tensor_whose_memory_the_allocator_did_not_make_raises():
    model, optimizer, batch, phases = training()
    grads = iter((None, torch.from_numpy(np.ones((4, 3), dtype=np.float32))))
    with pytest.raises(ValueError, match="not what was allocated"):
        drawn(model, optimizer, batch, phases | {"step": lambda: setattr(model[0].weight, "grad", next(grads))})


def fake_training(rows=8):
    """What `training` returns, of fake tensors."""
    with FakeTensorMode() as mode:
        return mode, *training(rows=rows)


@in_a_process_of_its_own
def test_fake_tensors_have_the_same_timeline():
    model, optimizer, batch, phases = training()
    real = memory_rows(phases, model, optimizer, batch)
    mode, model, optimizer, batch, phases = fake_training()
    with mode:
        fake = memory_rows(phases, model, optimizer, batch)
    peaks = [max(rows, key=lambda row: sum(row[2:])) for rows in (real, fake)]
    assert peaks[0][0] == peaks[1][0] == "backward" and peaks[0][2:] == peaks[1][2:]
    assert real[0][2:] == fake[0][2:] and real[-1][2:] == fake[-1][2:]


@in_a_process_of_its_own
def test_large_sizes_are_told_in_mib_and_gib():
    for rows, said in ((2**17, "MiB"), (2**25, "GiB")):
        mode, *one = fake_training(rows)
        with mode:
            svg = drawn(*one)
        texts = [text.text for text in checked_figure(svg).iter(SVG + "text")]
        assert any(text.startswith("peak: ") and text.endswith(said) for text in texts)
