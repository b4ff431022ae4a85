"""What was recorded on a GPU: the model of the allocator does the same, and the pages show what the program printed."""

import copy
import gzip
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest
import torch

from examples.caching_allocator import FREE, Allocator
from inside_torch.book import Book
from inside_torch.edition import ROOT, Edition

EXAMPLES = ROOT / "examples"
RECORDINGS = EXAMPLES / "recordings"
PROGRAMS = sorted(file.stem for file in RECORDINGS.glob("*on_a_gpu.py"))


def printed(name: str) -> str:
    return (RECORDINGS / f"{name}.txt").read_text()


def recorded() -> dict:
    with gzip.open(RECORDINGS / "allocator.json.gz", "rt") as file:
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


def test_where_a_segment_does_not_fit_memory_goes_back_or_the_request_is_refused(program):
    for run in (run for name, run in runs() if name.startswith("expandable_segments:False")):
        entries = [e["action"] for e in run["device_traces"][0] if not e["action"].startswith("segment")]
        rows, before = list(program.sizes(run)), 0
        assert len(rows) == len(entries)
        for action, (wanted, held, model, allocated) in zip(entries, rows):
            assert allocated <= model == held <= run["allowed"]
            assert (wanted > run["allowed"]) == (action == "oom" or held < max(before, wanted))
            before = held


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


def fits(model: Allocator, pool: dict, size: int) -> list[tuple]:
    segments = (segment for segment in model.segments if pool.items() <= segment.items())
    blocks = ((segment, block) for segment in segments for block in segment["blocks"])
    return [(s, block) for s, block in blocks if block["state"] == FREE and block["size"] >= size]


def first_fit(*asked: object) -> tuple | None:
    return next(iter(fits(*asked)), None)


def lowest_address(*asked: object) -> tuple | None:
    """What torch 2.11 took of several blocks that are equally large."""
    return min(fits(*asked), key=lambda found: (found[1]["size"], found[1]["address"]), default=None)


WRONG = {
    "the first block": ("best_fit", first_fit),
    "the lowest address": ("best_fit", lowest_address),
    "the size alone": ("room", lambda model, segment, block: block["size"]),
    "nothing goes back": ("empty_cache", lambda model: None),
}


@pytest.mark.parametrize(("rule", "wrong"), WRONG.values(), ids=WRONG)
def test_a_model_without_one_of_its_rules_is_noticed(
    program, rule: str, wrong: Callable, monkeypatch: pytest.MonkeyPatch
):
    for kind in (program.Allocator, program.Expandable):
        if rule in vars(kind):
            monkeypatch.setattr(kind, rule, wrong)
    answers = [program.compare(run) for _, run in runs()]
    assert any(same < all_ for same, all_ in answers)


def test_all_recordings_are_from_one_device_and_one_torch_that_is_not_newer_than_the_edition():
    kept = recorded()
    recorded_on, pinned = (re.findall(r"\d+", one)[:3] for one in (kept["torch"], Edition().release))
    assert list(map(int, recorded_on)) <= list(map(int, pinned))
    where = f"{kept['device']}\ndriver {kept['driver']}, torch {kept['torch']}"
    for name in PROGRAMS:
        said = re.findall(r"\[start:\w+\]\n(.+\n.+)\n\n", printed(name))
        assert said == [where] * printed(name).count("[start:")


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_section_of_a_recording_is_of_its_program_and_on_a_page(name: str):
    sections = re.findall(r"\[start:(\w+)\]", printed(name))
    assert sections == re.findall(r'with section\("(\w+)"\)', (RECORDINGS / f"{name}.py").read_text())
    shown = "".join(page.text for page in Book.read().pages)
    assert [one for one in sections if f'"examples/recordings/{name}.txt:{one}"' not in shown] == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_a_gpu_a_program_says_so(name: str):
    done = subprocess.run([sys.executable, RECORDINGS / f"{name}.py"], capture_output=True, text=True)
    if not torch.cuda.is_available():
        assert (done.returncode, done.stdout) == (77, "skipped: no CUDA device\n")
    else:
        assert done.returncode == 0


def test_the_counted_instructions_are_of_this_torch_and_add_up():
    text = printed("instructions")
    assert f"torch {torch.__version__.partition('+')[0]}," in text
    assert 98 <= sum(map(int, re.findall(r"(\d+) %$", text, re.M))) <= 102, "each share is rounded"
    share = {name: int(percent) for name, percent in re.findall(r"^(\S.*?) +(\d+) %$", text, re.M)}
    small = [share.pop(name) for name in ("dispatcher", "autograd's function", "the kernel of add")]
    assert share.keys() == {"Python, and the way to C++", "TensorIterator", "the result and its memory"}
    assert sum(small) < min(share.values()), "the page says so"


def test_the_loop_of_a_kernel_belongs_to_the_kernel():
    program = importlib.import_module("examples.recordings.instructions")
    wrapper = "void c10::function_ref<void (char**, long)>::callback_fn<at::native::AVX2::VectorizedLoop2d<int> >(long)"
    assert program.layer(wrapper) == "the kernel of add"
    assert program.layer("at::TensorIteratorBase::serial_for_each(c10::function_ref<void (long)>)") == "TensorIterator"


def test_without_valgrind_nothing_is_counted():
    command = [sys.executable, RECORDINGS / "instructions.py"]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": ""})
    assert (done.returncode, done.stdout) == (77, "skipped: no valgrind\n")
