"""What other torches print: each difference has a sentence and each sentence a difference, proven on a copy."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup
from conftest import BOOK, ROOT, build

from inside_torch.approved import FAILS, Shown, as_shown, before, shown
from inside_torch.others import KINDS, META, NOISE, PAGE, WHY, Difference, Others, Reason, keys, seal
from inside_torch.render import changes
from inside_torch.run.blocks import STDERR
from inside_torch.tools.compare import differing, prune, write
from inside_torch.tools.move import move

GRADIENT = "gradients.md"  # begins with the gradient of clamp(min=0) at 0


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with what is approved and recorded, and the project's pin."""
    shutil.copytree(ROOT / "tests" / "approved", tmp_path / "tests" / "approved")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path / "tests" / "approved"


def problems(copy: Path) -> list[tuple[str, int, str]]:
    return Others(copy.parents[1], BOOK.pages).problems


def rewritten(copy: Path, change: Callable[[list[dict]], object]) -> list[str]:
    """The problems once the sentences are changed, as text."""
    found = yaml.safe_load((copy / WHY).read_text())
    change(found)
    (copy / WHY).write_text(yaml.safe_dump(found, sort_keys=False))
    return [f"docs/{src}:{line}: {text}" for src, line, text in problems(copy)]


def test_every_difference_has_its_sentence_and_every_sentence_its_difference(copy: Path):
    others = Others(ROOT, BOOK.pages)
    assert others.torches and others.differences
    assert others.problems == problems(copy) == []


def test_a_missing_sentence_is_told_with_page_and_line(copy: Path):
    said = rewritten(copy, lambda found: found.pop(0))
    line = BOOK.page(GRADIENT).running[0].line
    assert f"docs/{GRADIENT}:{line}: torch 2.14.1 prints something else, and {WHY} says not why" in said


def test_a_stale_sentence_is_told(copy: Path):
    stale = {
        "kind": "value",
        "says": "Stale.",
        "source": "https://x",
        "torches": ["2.14.1"],
        "blocks": {GRADIENT: ["b-0"]},
    }
    said = rewritten(copy, lambda found: found.append(stale))
    assert f"docs/{GRADIENT}:1: {WHY} explains b-0, which does not differ: Stale." in said
    assert f"docs/{PAGE}:1: {WHY} explains what does not differ on torch 2.14.1: Stale." in said


def test_a_sentence_without_a_source_is_told(copy: Path):
    assert "a sentence without a source" in rewritten(copy, lambda found: found[0].pop("source"))[0]


def test_a_doctored_record_is_told(copy: Path):
    file = copy / "torch-2.14.1" / f"{GRADIENT}.txt"
    file.write_text(file.read_text().replace("0.0000", "0.5000", 1))
    assert problems(copy) == [
        (GRADIENT, 1, f"tests/approved/torch-2.14.1/{GRADIENT}.txt is not as it was recorded: make compare")
    ]
    file.unlink()
    assert any("is not as it was recorded" in text for _, _, text in problems(copy))


def test_a_record_of_what_is_gone_or_the_same_is_told_and_pruned(copy: Path, monkeypatch):
    folder, page = copy / "torch-2.14.1", BOOK.page(GRADIENT)
    meta = json.loads((folder / META).read_text())
    found = as_shown((folder / f"{GRADIENT}.txt").read_text())
    same = before(page, copy)[1].output
    records = {GRADIENT: [*found, Shown("b-0 gone", "x"), Shown(f"{keys(page)[1]} same", same)]}
    others = {src.removesuffix(".txt"): as_shown((folder / src).read_text()) for src in meta["seal"]}
    write(folder, others | records, meta)
    said = [text for _, _, text in problems(copy)]
    assert said == [
        "torch 2.14.1 is recorded of a block that is no longer there: b-0 gone",
        f"torch 2.14.1 is recorded of a block that differs no more: {keys(page)[1]} same",
    ]
    monkeypatch.setattr("inside_torch.tools.compare.Build", lambda edition, root: SmallBuild(root))
    prune(copy.parents[1])
    assert problems(copy) == []


class SmallBuild:
    """The book's pages with what is approved in another folder."""

    def __init__(self, root: Path) -> None:
        self.others = Others(root, BOOK.pages)


def test_a_page_that_is_not_approved_has_nothing_to_compare_with(copy: Path):
    (copy / f"{GRADIENT}.txt").write_text("x\n    y\n")
    assert not [one for one in Others(copy.parents[1], BOOK.pages).differences if one.src == GRADIENT]
    with pytest.raises(ValueError, match=r"docs/gradients.md is not approved as it is"):
        differing(BOOK.page(GRADIENT), build(), Others(copy.parents[1], BOOK.pages))


def test_the_edition_itself_differs_nowhere():
    for src in (GRADIENT, "tour.py", "index.md"):
        page = BOOK.page(src)
        assert len(list(shown(page, build()))) == len(keys(page))
        assert differing(page, build(), build().others) == []


def test_what_changed_begins_with_values(book: Path):
    page = BeautifulSoup((book / "reference" / "what-changed.html").read_text(), "html.parser")
    headings = [heading.get_text().rstrip("#") for heading in page.select("h3")]
    first = [text for text in headings if text.endswith("torch 2.14.1")]
    ranks = [list(changes.HEADINGS.values()).index(text.rpartition(", ")[0]) for text in first]
    assert ranks == sorted(ranks) and ranks[0] == 0
    assert "clamp(min=0)" in page.select_one("h3 ~ p").get_text()
    for link in page.select('a[href*="#b-"]'):
        path, _, name = link["href"].partition("#")
        assert f'id="{name}"' in (book / "reference" / path).read_text(), link["href"]


def test_all_of_it_is_in_the_json(book: Path):
    made = json.loads((book / "reference" / "what-changed.json").read_text())
    others = build().others
    assert list(made) == list(others.torches)
    for name, one in made.items():
        assert len(one["differences"]) == sum(found.torch == name for found in others.differences)
        assert all(found["why"] and found["book"] != found["other"] for found in one["differences"])


def test_a_block_that_differs_says_so_in_one_folded_line(book: Path):
    page = BeautifulSoup((book / "gradients.html").read_text(), "html.parser")
    line = page.select_one(".it-block > details.it-other")
    assert not line.has_attr("open") and line.summary.get_text().startswith("another output with torch 2.")
    assert "not checked by the build" in line.get_text() and "\n+" in line.pre.get_text()
    others = build().others
    visible = [one for one in others.differences if not one.warns and not one.undrawn]
    assert {one.src for one in others.differences if one.undrawn} >= {"dispatcher.md", "tensor-kinds.md"}
    told = {one.key for one in visible if {reason.kind for reason in others.why(one)} - {NOISE}}
    pages = [BeautifulSoup(file.read_text(), "html.parser") for file in book.rglob("*.html")]
    shown = {block["id"] for page in pages for block in page.select(".it-block:has(details.it-other)")}
    assert all(
        len(block.select("details.it-other")) == 1
        for page in pages
        for block in page.select(".it-block:has(details.it-other)")
    )
    said = {line.get_text() for page in pages for line in page.select("details.it-other > p")}
    # A warning alone is told on the page of all changes, and not below the block.
    assert not any("torch/profiler" in one for one in said)
    assert "torch/profiler" in (book / "reference" / "what-changed.html").read_text()
    assert not any("fails: it wrote to stderr" in one for one in said)
    assert {name.split("-")[1] for name in shown} == {name.split("-")[1] for name in told if name.startswith("b-")}


def test_the_folded_line_says_where_a_block_fails_and_is_left_out_where_readers_see_no_difference(monkeypatch):
    def found(torch: str, now: str, **given) -> Difference:
        return Difference(torch, GRADIENT, "b-0", "x", 1, "1", now, **given)

    fails, warns = found("2.12.1", f"1\n{FAILS}ImportError: no"), found("2.14.1", f"1\n{FAILS}{STDERR}a.py: old")
    differs = found("2.11.0", f"2\n{FAILS}{STDERR}a.py: old")
    assert [one.warns for one in (fails, warns, differs)] == [False, True, False]
    assert changes.opening([fails]) == "fails with torch 2.12.1"
    assert "it also writes to stderr: <code>a.py: old" in changes.summary(warns, ["torch 2.14.1"])
    assert changes.opening([fails, differs]) == "another output with torch 2.11.0; fails with torch 2.12.1"
    others = build().others
    monkeypatch.setattr(others, "why", lambda one: [Reason("value", "A reason.", "https://example.org")])
    undrawn = found("2.14.1", f"{FAILS}ImportError: no", figure=True)
    for known, names in (([warns], []), ([undrawn], []), ([warns, undrawn, fails], ["2.12.1"])):
        monkeypatch.setattr(others, "differences", known)
        folded = changes.folded_html(others, GRADIENT, "b-0")
        assert re.findall(r"torch ([\d.]+\d)</summary>", folded) == names and "2.14.1" not in folded


def test_the_book_turns_to_a_recorded_torch(copy: Path, monkeypatch):
    monkeypatch.setattr("inside_torch.tools.move.Build", lambda edition, root: SmallBuild(root))
    before_move, root = Others(ROOT, BOOK.pages), copy.parents[1]
    move(root, "2.14.1")
    after = Others(root, BOOK.pages)
    assert after.problems == []
    assert '"torch==2.14.1"' in (root / "pyproject.toml").read_text()
    assert "2.13.0" in after.torches and "2.14.1" not in after.torches
    was = {(one.src, one.key): (one.was, one.now) for one in before_move.differences if one.torch == "2.14.1"}
    now = {(one.src, one.key): (one.now, one.was) for one in after.differences if one.torch == "2.13.0"}
    assert was == now
    page = (copy / f"{GRADIENT}.txt").read_text()
    assert re.search(r"a\.clamp\(min=0\) +0\.6446 0\.0000", page)
    monkeypatch.setattr("inside_torch.tools.move.Build", lambda edition, root: SmallBuild(root))
    move(root, "2.13.0")
    back = {(one.torch, one.src, one.key, one.now) for one in Others(root, BOOK.pages).differences}
    assert back == {(one.torch, one.src, one.key, one.now) for one in before_move.differences}


def test_kinds_are_told_apart():
    assert set(KINDS) == set(changes.HEADINGS)
    assert seal(ROOT / "tests" / "approved" / "torch-2.14.1").keys()
