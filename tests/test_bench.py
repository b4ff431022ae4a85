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


@pytest.mark.parametrize("name", bench.BOOKS)
def test_bench_prints_the_ratios_of_a_book_in_a_folder_that_can_be_compiled_in(name, capsys, monkeypatch):
    assert re.fullmatch(r"[\w-]+", name), "Inductor's compiler commands do not survive a space"
    monkeypatch.setattr(bench, "measured", lambda folder: dict.fromkeys(GOALS, 0.5))
    monkeypatch.setattr(bench, "BOOKS", {name: lambda folder: folder})
    bench.main()
    first, *ratios = capsys.readouterr().out.splitlines()
    assert first == name
    assert [line.split("0.50")[0].strip() for line in ratios] == list(GOALS)


def test_a_small_corpus_is_measured(tmp_path: Path):
    """Inductor's block among them: its compiler is called in a folder of such a name, plainly and by the build."""
    ratios = measured(corpus(tmp_path / next(iter(bench.BOOKS)), mixed(4, 1, 1, 1)))
    assert ratios.keys() == GOALS.keys()
    assert all(ratio > 0 for ratio in ratios.values())
    assert ratios["unchanged"] < ratios["compilers warm"], "both are measured against the same process"
    assert "print('edited')" in (tmp_path / next(iter(bench.BOOKS)) / "docs" / "index.md").read_text()


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


def test_the_copied_book_is_the_whole_book_and_builds(tmp_path: Path):
    folder = copied(tmp_path / "book")
    assert [page.src for page in Book.read(folder).pages] == [page.src for page in BOOK.pages]
    environment = os.environ | {"INSIDE_TORCH_CACHE": str(Edition().cache), "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    built = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
