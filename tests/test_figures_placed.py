"""The figure of placements says what each rank holds. A process has one process group, so it is drawn in its own."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from conftest import ROOT
from test_figures import ATTRIBUTES, CSS, SVG, rows_of, texts

from inside_torch.drawing.layout import NARROW, WIDE
from inside_torch.render.figures import checked_figure, figure_html

MESH = """
import torch
import torch.distributed as dist
from torch.distributed import init_device_mesh
from torch.distributed._local_tensor import LocalTensorMode
from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor
from inside_torch.figures import placed_cells

dist.init_process_group("fake", rank=0, world_size=4)
R, S0, S1 = Replicate(), Shard(0), Shard(1)
x, w = torch.arange(1, 10).view(3, 3), torch.arange(16).view(4, 4) % 10
with LocalTensorMode(4):
    four, two, deep = (init_device_mesh("cpu", size) for size in ((4,), (2, 2), (2, 2, 1)))
    r, s0, s1 = (distribute_tensor(x, four, [p]) for p in (R, S0, S1))
    both = distribute_tensor(x, two, [S0, S1])
    flat = distribute_tensor(torch.ones(2, 4), four, [S1]).view(-1, 1)
    nested = distribute_tensor(x, deep, [S0, R, R])
    p = distribute_tensor(w, four, [S1]) @ distribute_tensor(torch.eye(4, dtype=torch.int64), four, [S0])
"""


def drawn(code: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", MESH + code], cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module")
def svg() -> str:
    return drawn("print(placed_cells(x, [r, s0, s1, both], title='t'))").stdout


def test_each_rank_has_the_cells_that_its_placement_says(svg):
    rows = {(mesh, name, rank): (part, values) for mesh, name, rank, part, values in rows_of(svg)}
    assert rows["4", "R", 3] == ("rows 0 to 3, columns 0 to 3", [[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    assert rows["4", "S(0)", 1] == ("rows 1 to 2, columns 0 to 3", [[4, 5, 6]])
    assert rows["4", "S(1)", 2] == ("rows 0 to 3, columns 2 to 3", [[3], [6], [9]])
    assert rows["4", "S(0)", 3][1] == []
    assert rows["2 x 2", "S(0) S(1)", 1] == ("rows 0 to 2, columns 2 to 3", [[3], [6]])
    assert {"mesh of 4 ranks", "mesh of 2 x 2 ranks", "S(0) S(1)", "rank 3"} <= set(texts(svg))


def test_summands_are_marked():
    rows = rows_of(drawn("print(placed_cells(w, [p], title='t'))").stdout)
    assert {row[1] for row in rows} == {"P(sum)"} and all(row[3].endswith(", of a sum") for row in rows)
    assert rows[0][4] == [[0, 0, 0, 0], [4, 0, 0, 0], [8, 0, 0, 0], [2, 0, 0, 0]]


def test_it_refuses_what_it_cannot_draw_and_what_is_not_so():
    calls = {
        "placed_cells(3, [r], title='t')": "the whole must be a torch.Tensor, got int",
        "placed_cells(x, [x], title='t')": "each of the tensors must be a",
        "placed_cells(x * 2, [r], title='t')": "the whole must be a matrix of at most 4 x 4 integers of one digit",
        "placed_cells(x, [nested], title='t')": "(Shard(dim=0), Replicate(), Replicate()) on a mesh of (2, 2, 1)",
        "placed_cells(x, [flat], title='t')": "(_StridedShard(dim=0, sf=2),) on a mesh of (4,) cannot be drawn",
        "placed_cells(x.t(), [s0], title='t')": "the local tensors do not make the whole under (Shard(dim=0),)",
        "placed_cells(w.t(), [p], title='t')": "the local tensors do not make the whole under (Partial(sum),)",
        "placed_cells(x[:2], [s0], title='t')": "rank 2 holds (1, 3), which (Shard(dim=0),) does not say",
    }
    tried = f"for call in {list(calls)}:\n try: eval(call)\n except (TypeError, ValueError) as e: print(e)"
    said = drawn(tried).stdout.splitlines()
    assert all(one.startswith(error) for one, error in zip(said, calls.values(), strict=True)), said


def test_it_is_plain_and_fits_the_page_and_a_phone(svg):
    root = ElementTree.fromstring(svg)
    assert float(root.get("width")) <= WIDE
    narrow = next(one for one in root.iter(f"{SVG}svg") if "it-narrow" in one.get("class", ""))
    assert float(narrow.get("width")) <= NARROW + 8
    for element in root.iter():
        extra = {"transform"} if element.get("class") == "it-panel" else set()
        assert set(element.keys()) <= ATTRIBUTES[element.tag.removeprefix(SVG)] | extra
    used = {name for value in re.findall(r'class="([^"]+)"', svg) for name in value.split()}
    assert used <= set(re.findall(r"\.(figure|it-[\w-]+)", CSS)) | {"it-panel"}
    figure_html(checked_figure(svg), "")
