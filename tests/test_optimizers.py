"""Every public optimizer, scheduler and averaging function of torch is on a page, or omitted with a reason."""

from __future__ import annotations

import re

import pytest
import torch
from conftest import ROOT, build
from torch.optim import lr_scheduler, swa_utils

from inside_torch.fences import Fence, parse

PAGES = {name: (ROOT / f"docs/{name}.md").read_text() for name in ("optimizer", "update-rules", "schedulers")}
TEXT = "".join(PAGES.values())

OMITTED = {
    "LRScheduler": "the base class of the schedulers: its step is cited, itself it schedules nothing",
    "get_ema_avg_fn": "get_ema_multi_avg_fn for one tensor at a time",
    "get_swa_multi_avg_fn": "what AveragedModel does when it is given no function: the mean",
    "get_swa_avg_fn": "the same for one tensor at a time",
}


def classes(module, base: type) -> set[str]:
    """The public subclasses of `base` in a module, by name, the base left out."""
    found = {name: value for name, value in vars(module).items() if isinstance(value, type)}
    return {name for name, kind in found.items() if issubclass(kind, base) and kind is not base and name[0] != "_"}


def optimizers() -> set[str]:
    return classes(torch.optim, torch.optim.Optimizer)


def schedulers() -> set[str]:
    return classes(lr_scheduler, lr_scheduler.LRScheduler) | classes(swa_utils, lr_scheduler.LRScheduler)


def public() -> set[str]:
    """All that torch.optim and its two public modules say they export."""
    return set(torch.optim.__all__) | set(lr_scheduler.__all__) | set(swa_utils.__all__)


def uncovered(names: set[str], text: str) -> set[str]:
    return {name for name in names if name not in OMITTED and not re.search(rf"\b{re.escape(name)}\b", text)}


def holding(text: str, words: str) -> Fence:
    """The one block of a page that holds some words."""
    found = [fence for fence in parse(text)[0] if fence.info == "python" and words in fence.source]
    assert len(found) == 1, words
    return found[0]


# Tables that the build makes from live objects: a phrase of the block that prints each.
STATE, FINGERPRINTS = ("kept  skips", "optimizer"), ("gradient          1", "update-rules")


def table(words: str, page: str) -> str:
    """What the block that holds `words` prints."""
    return build().result(holding(PAGES[page], words)).output


def text_and_tables() -> str:
    return TEXT + table(*STATE) + table(*FINGERPRINTS)


@pytest.mark.parametrize("where", [STATE, FINGERPRINTS])
def test_a_table_has_a_row_for_each_optimizer(where):
    assert {line.split()[0] for line in table(*where).splitlines()} >= optimizers()


def test_the_state_table_is_what_a_step_makes():
    w = torch.nn.Parameter(torch.ones(20, 30))
    optimizer = torch.optim.NAdam([w])
    w.grad = torch.ones(20, 30)
    optimizer.step()
    (row,) = (line for line in table(*STATE).splitlines() if line.startswith("NAdam"))
    assert row.split()[3:] == list(optimizer.state[w])


def test_what_is_public_is_covered():
    assert optimizers() and schedulers() and optimizers() < public()
    assert uncovered(public() | schedulers(), text_and_tables()) == set()


def test_each_scheduler_is_drawn():
    drawings = "".join(fence.source for fence in parse(PAGES["schedulers"])[0] if fence.info == "figure")
    assert uncovered(schedulers(), drawings) == set()


def test_each_rule_of_the_issue_is_compared_with_torch():
    compared = (ROOT / "examples/optimizers_by_hand.py").read_text()
    for name in ("SGD", "Adagrad", "RMSprop", "Adam", "AdamW", "Muon", "LBFGS"):
        assert f'"{name}"' in compared


def test_an_omission_has_a_reason_and_is_still_there():
    assert all(OMITTED.values())
    assert OMITTED.keys() <= public(), "torch no longer has these: drop them from the list"


def test_a_new_one_would_be_noticed(monkeypatch):
    monkeypatch.setattr(torch.optim, "Adamant", type("Adamant", (torch.optim.Adam,), {}), raising=False)
    monkeypatch.setattr(lr_scheduler, "TidalLR", type("TidalLR", (lr_scheduler.StepLR,), {}), raising=False)
    assert uncovered(optimizers(), text_and_tables()) == {"Adamant"}
    assert uncovered(schedulers(), TEXT) == {"TidalLR"}
    monkeypatch.setattr(torch.optim, "__all__", [*torch.optim.__all__, "swap_out"])
    assert uncovered(public(), text_and_tables()) == {"swap_out"}
