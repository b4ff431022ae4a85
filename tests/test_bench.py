"""`make bench` measures what it says, on a small corpus, and fails where the book cannot be built."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BOOK

from inside_torch.book import Book
from inside_torch.edition import Edition
from inside_torch.tools import bench
from inside_torch.tools.bench import GOALS, copied, corpus, measured, mixed, plain_process


def test_small_books_are_measured_in_the_folders_of_bench(capsys, monkeypatch: pytest.MonkeyPatch):
    """Each has an Inductor block, whose compiler must survive the folder's name."""
    ratios, sizes = {}, dict(zip(bench.BOOKS, [(4, 1, 1, 1), (1, 0, 0, 1)], strict=True))

    def noted(folder: Path) -> dict[str, float]:
        ratios[folder.name] = measured(folder)
        assert "print('edited')" in (folder / "docs" / "index.md").read_text()
        return ratios[folder.name]

    made = {name: lambda folder, size=size: corpus(folder, mixed(*size)) for name, size in sizes.items()}
    monkeypatch.setattr(bench, "BOOKS", made)
    monkeypatch.setattr(bench, "measured", noted)
    bench.main()
    assert re.findall(r"^(\S+)\n  cold", capsys.readouterr().out, re.M) == list(ratios) == list(sizes)
    for found in ratios.values():
        assert found.keys() == GOALS.keys()
        assert all(ratio > 0 for ratio in found.values())
    larger = ratios[next(iter(sizes))]
    assert larger["unchanged"] < larger["compilers warm"], "both in times of the same process"


def test_a_program_that_registers_operators_shares_no_process(tmp_path: Path):
    registers = """
import torch

assert not hasattr(torch, "seen")
torch.seen = True
print(torch.library.custom_op("book::relu", torch.relu, mutates_args=(), schema="(Tensor x) -> Tensor"))"""
    command = plain_process(tmp_path / "limit", [registers, "import torch\n\nprint(hasattr(torch, 'seen'))", registers])
    done = subprocess.run(command, cwd=tmp_path / "limit", capture_output=True, text=True)
    assert done.stdout.splitlines() == ["<CustomOpDef(book::relu)>"] * 2 + ["False"]
    assert done.stderr == ""


def test_a_book_that_cannot_be_built_is_said_so(tmp_path: Path):
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        measured(corpus(tmp_path / "corpus", ["1 / 0"]))


def test_the_book_itself_is_what_is_measured(tmp_path: Path):
    folder = copied(tmp_path)
    assert {"tensor.md", "exercises", "tour.py"} <= {path.name for path in (folder / "docs").iterdir()}
    assert (folder / "mkdocs.yml").exists() and (folder / "inside_torch" / "hooks.py").exists()


def test_the_copied_book_is_the_whole_book_and_builds(tmp_path: Path):
    folder = copied(tmp_path / "book")
    assert [page.src for page in Book.read(folder).pages] == [page.src for page in BOOK.pages]
    environment = os.environ | {"INSIDE_TORCH_CACHE": str(Edition().cache), "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    built = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
