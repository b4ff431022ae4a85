"""Outputs are the approved ones, and the same bytes whatever the circumstances of the build."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from conftest import BOOK, ROOT, build

from inside_torch.approved import CITATIONS, Shown, as_shown, as_text, differences, is_edition
from inside_torch.edition import Edition
from inside_torch.run.cache import Cache
from inside_torch.run.normal import RULES, normalised
from inside_torch.tools.approve import FOLDER, all_differences, approve, shown_by
from inside_torch.tools.citations import changes, places, row


def test_every_output_is_the_approved_one(shown_pages):
    changed = all_differences(shown_pages, BOOK)
    if changed and not is_edition():
        warnings.warn("not the edition's Python or machine:\n" + "\n\n".join(changed), stacklevel=1)
    else:
        assert not changed, "\n\n" + "\n\n".join(changed) + "\n\nIf this is right: make approve"


def test_every_citation_leads_where_it_was_approved(book: Path):
    approved = json.loads((FOLDER / CITATIONS).read_text())["citations"]
    now = {reference: row(build().proofs, reference) for _, reference in places(BOOK)}
    assert now.keys() == approved.keys(), "make approve"
    assert changes(approved, now) == {}


def test_what_is_approved_is_what_the_pages_show(shown_pages):
    def stripped(pages: dict[str, list[Shown]]) -> dict[str, list[tuple[str, str]]]:
        return {src: [(one.source, one.output.strip("\n")) for one in shown] for src, shown in pages.items()}

    assert stripped(shown_by(build())) == stripped(shown_pages)


@pytest.fixture
def two_pages(shown_pages) -> dict[str, list[Shown]]:
    """What two pages of the site show."""
    return {src: shown_pages[src] for src in ("index.md", "tensor.md")}


def test_a_changed_output_is_named_with_page_and_line(two_pages, tmp_path: Path):
    approve(two_pages, tmp_path)
    assert all_differences(two_pages, BOOK, tmp_path) == []
    file = tmp_path / "tensor.md.txt"
    file.write_text(file.read_text().replace("9,  10, 100]", "9,  10, 200]", 1))
    (report,) = all_differences(two_pages, BOOK, tmp_path)
    line = (ROOT / "docs" / "tensor.md").read_text().split("```python")[0].count("\n") + 1
    assert report.startswith(f"docs/tensor.md:{line}: the output changed")
    assert "-        [  8,   9,  10, 200]])" in report and "+        [  8,   9,  10, 100]])" in report


def test_a_block_more_or_less_is_named(two_pages, tmp_path: Path):
    approve(two_pages, tmp_path)
    file = tmp_path / "index.md.txt"
    shown = as_shown(file.read_text())
    file.write_text(as_text([Shown("gone = 1", "x"), *shown[1:]]))
    reports = all_differences(two_pages, BOOK, tmp_path)
    assert any("no longer there: gone = 1" in report for report in reports)
    assert any("not approved yet" in report for report in reports)
    (tmp_path / "lost.md.txt").write_text("")
    assert "docs/lost.md: approved, but no longer a page" in all_differences(two_pages, BOOK, tmp_path)


def test_an_approved_file_reads_back(shown_pages):
    for src, shown in shown_pages.items():
        assert list(differences(BOOK.page(src), as_shown(as_text(shown)), shown)) == []
        assert [item.source for item in as_shown(as_text(shown))] == [item.source for item in shown]


RUNS = {
    "<AddBackward0 object at 0x7f3a5c0b1d90>": "<AddBackward0 object at 0x…>",
    "fn 0x55cea04f72a0 here": "fn 0x… here",
    "___check_obj_id(L['f'], 140234)": "___check_obj_id(L['f'], <id>)",
    "__compiled_fn_1_ea36acdf_b2ce_4aa1_9c1d_0123456789ab(x)": "__compiled_fn_1_<uuid>(x)",
    "<eval_with_key>.12": "<eval_with_key>",
    "V1120 16:59:47.828000 23344 torch/_dynamo/x.py:1] go": "torch/_dynamo/x.py:1] go",
    "[E1127 09:44:57.541441838 shim_common.cpp:1431] Exception": "[shim_common.cpp:1431] Exception",
    "latency = 85.45 us": "latency = <time>",
    "/home/a/.venv/lib/python3.11/site-packages/torch/_tensor.py": "torch/_tensor.py",
    "/__w/pytorch/pytorch/c10/core/TensorImpl.h": "c10/core/TensorImpl.h",
    "/home/a/.cache/extensions/d8cd871dbe0b9f4b/book/main.cpp:2": "book/main.cpp:2",
    "/tmp/inside-torch-ab12/tmpx/tmp/a.txt": "./a.txt",
    "0x9400010001 DispatchKeySet(CPU)": "0x9400010001 DispatchKeySet(CPU)",
}


@pytest.mark.parametrize(("printed", "shown"), RUNS.items())
def test_what_no_run_can_repeat_is_replaced(printed, shown):
    assert normalised(printed) == shown
    assert normalised(shown) == shown


def test_every_rule_has_a_reason_and_a_case():
    for pattern, _, reason in RULES:
        assert reason
        assert any(re.search(pattern, printed) for printed in RUNS), pattern


# A path of the machine that printed it, which no other machine prints.
MACHINE = re.compile(r"(?<![\w.])/(?:home|root|tmp|work|Users)/\w[^\n]*")


def test_a_path_of_a_machine_is_noticed():
    assert MACHINE.findall("registered at /work/a/a.cpp:2, see torch/utils/_utils/worker.py and ./tmp/a") != []
    assert MACHINE.findall("see torch/utils/_utils/worker.py and ./tmp/a") == []


def test_no_output_names_a_path_of_the_machine_that_printed_it():
    files = sorted((ROOT / "tests" / "approved").rglob("*.txt"))
    assert len(files) > 80
    assert {str(one): found for one in files if (found := MACHINE.findall(one.read_text("utf-8")))} == {}


def test_the_book_is_the_same_bytes_elsewhere(book: Path, tmp_path: Path):
    """Its figures and cells are made again, on one core. What its blocks print elsewhere is for test_plain to see."""
    printed = Cache(Edition(cache=tmp_path / "cache"), "blocks", "run")
    for block in (block for page in BOOK.pages for block in page.programs):
        printed.put(build().result(block).output, block.program)
    (tmp_path / "home").mkdir()
    environment = os.environ | {
        "HOME": str(tmp_path / "home"),
        "INSIDE_TORCH_CACHE": str(tmp_path / "cache"),
        "LC_ALL": "C",
        "NO_MKDOCS_2_WARNING": "1",
        "PYTHONPATH": str(ROOT),
        "TORCHINDUCTOR_CACHE_DIR": str(Edition().cache / "inductor"),  # what was compiled before
        "TZ": "Asia/Tokyo",
    }
    command = [sys.executable, "-m", "mkdocs", "build", "-f", str(ROOT / "mkdocs.yml"), "-d", str(tmp_path / "site")]
    one_core = lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # noqa: E731
    built = subprocess.run(command, cwd=tmp_path, env=environment, preexec_fn=one_core, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    for path in sorted(book.rglob("*")):
        if path.is_file():
            assert (tmp_path / "site" / path.relative_to(book)).read_bytes() == path.read_bytes(), path.name
