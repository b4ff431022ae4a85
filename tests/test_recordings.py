"""What was recorded on a GPU: the model of the allocator does the same, and the pages show what the program printed."""

import copy
import gzip
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest
import torch

from examples.caching_allocator import FREE, Allocator
from inside_torch.book import Book
from inside_torch.edition import ROOT

EXAMPLES = ROOT / "examples"
PRINTED = (EXAMPLES / "recordings/on_a_gpu.txt").read_text()


def recorded() -> dict:
    with gzip.open(EXAMPLES / "recordings/allocator.json.gz", "rt") as file:
        return json.load(file)


def runs() -> Iterator[tuple[str, dict]]:
    return ((name, run) for name, run in recorded().items() if isinstance(run, dict))


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module("recordings.against")


def test_the_model_gives_each_request_the_address_that_the_device_gave(program):
    asked = {name: program.compare(run) for name, run in runs()}
    assert {name: (same, all_) for name, (same, all_) in asked.items() if same != all_} == {}
    assert sum(all_ for _, all_ in asked.values()) > 1000
    refused = [entry for _, run in runs() for entry in run["device_traces"][0] if entry["action"] == "oom"]
    assert len(refused) > 100


@pytest.mark.parametrize("expandable", [False, True])
def test_a_recording_that_was_changed_is_noticed(program, expandable: bool):
    run = recorded()[f"expandable_segments:{expandable}, seed 1"]
    same, all_ = program.compare(run)
    requests = [i for i, entry in enumerate(run["device_traces"][0]) if entry["action"] == "alloc"]
    moved = copy.deepcopy(run)
    moved["device_traces"][0][requests[-1]]["addr"] += 512
    assert program.compare(moved)[0] < same == all_
    larger = copy.deepcopy(run)
    larger["allowed"] += 64 << 20
    assert program.compare(larger)[0] < all_


def first_fit(model: Allocator, pool: dict, size: int) -> tuple | None:
    segments = (segment for segment in model.segments if pool.items() <= segment.items())
    blocks = ((segment, block) for segment in segments for block in segment["blocks"])
    return next(((s, block) for s, block in blocks if block["state"] == FREE and block["size"] >= size), None)


WRONG = {"best_fit": first_fit, "room": lambda model, segment, block: block["size"], "empty_cache": lambda model: None}


@pytest.mark.parametrize("rule", WRONG)
def test_a_model_without_one_of_its_rules_is_noticed(program, rule: str, monkeypatch: pytest.MonkeyPatch):
    for kind in (program.Allocator, program.Expandable):
        if rule in vars(kind):
            monkeypatch.setattr(kind, rule, WRONG[rule])
    answers = [program.compare(run) for _, run in runs()]
    assert any(same < all_ for same, all_ in answers)


def test_both_recordings_are_from_one_device():
    kept = recorded()
    assert f"\n{kept['device']}\ndriver {kept['driver']}, torch {kept['torch']}\n" in PRINTED


def test_each_section_of_the_recording_is_of_the_program_and_on_a_page():
    sections = re.findall(r"\[start:(\w+)\]", PRINTED)
    assert sections == re.findall(r'with section\("(\w+)"\)', (EXAMPLES / "recordings/on_a_gpu.py").read_text())
    shown = "".join(page.text for page in Book.read().pages)
    assert [name for name in sections if f'"examples/recordings/on_a_gpu.txt:{name}"' not in shown] == []


def test_without_a_gpu_the_program_says_so():
    done = subprocess.run([sys.executable, EXAMPLES / "recordings/on_a_gpu.py"], capture_output=True, text=True)
    if not torch.cuda.is_available():
        assert (done.returncode, done.stdout) == (77, "skipped: no CUDA device\n")
    else:
        assert done.returncode == 0
