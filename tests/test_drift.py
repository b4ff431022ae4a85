"""The report on another torch: proven on a doctored copy of the installed one."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
import sys
import venv
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import BOOK, ROOT, build

from inside_torch.approved import is_edition
from inside_torch.edition import Edition
from inside_torch.others import Difference
from inside_torch.tools.compare import Found
from inside_torch.tools.drift import as_markdown, kind

METHODS = """
def repeat(self, *sizes):
    warnings.warn('use less', DeprecationWarning)
    return torch._C.TensorBase.repeat(self, *sizes)

def zero_(self):
    raise RuntimeError('zero_ is gone')

Tensor.repeat, Tensor.zero_ = repeat, zero_
Tensor.split = lambda self, size: [self.clone()]
"""
# file of torch -> what is done to its text
DOCTORED = {
    "storage.py": lambda text: "# moved\n" * 7 + text,
    "_tensor.py": lambda text: text + METHODS,
}
# where a page lies, and what is approved of it
FORMS = [("docs/", ""), ("tests/approved/", ".txt")]


@pytest.fixture(scope="module")
def doctored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter whose torch is the installed one, but for two changed files."""
    folder = tmp_path_factory.mktemp("doctored")
    venv.create(folder, with_pip=False, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    real = Edition().torch
    (packages / "rest.pth").write_text(f"{real.parent}\n")
    (packages / "torchgen").symlink_to(real.parent / "torchgen")
    (installed,) = real.parent.glob("torch-*.dist-info")
    for name in (installed.name, "torch"):
        (packages / name).mkdir()
        for path in (real.parent / name).iterdir():
            (packages / name / path.name).symlink_to(path)
    record = (installed / "RECORD").read_text()
    for name, change in DOCTORED.items():
        file = packages / "torch" / name
        doctored = change(file.read_text())
        file.unlink()
        file.write_text(doctored)
        digest = base64.urlsafe_b64encode(hashlib.sha256(doctored.encode()).digest()).rstrip(b"=").decode()
        record = re.sub(rf"^torch/{name},.*$", f"torch/{name},sha256={digest},{len(doctored)}", record, flags=re.M)
    (packages / installed.name / "RECORD").unlink()
    (packages / installed.name / "RECORD").write_text(record)
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def two_pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with two of its pages: one that the doctored torch changes in every way, and one that it leaves."""
    folder = tmp_path_factory.mktemp("two pages")
    for name in ("inside_torch", "examples", "docs/assets"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tests" / "approved").mkdir(parents=True)
    pages = [f"{start}{page}.md{end}" for page in ("index", "tensor") for start, end in FORMS]
    for name in ["mkdocs.yml", "tests/approved/citations.json", *pages]:
        shutil.copy(ROOT / name, folder / name)
    return folder


def report(python: Path, book: Path) -> str:
    command = [sys.executable, "-m", "inside_torch.tools.drift", str(python)]
    made = subprocess.run(command, cwd=book, capture_output=True, text=True, timeout=900)
    assert made.returncode == 0, made.stderr
    return made.stdout


def test_what_another_torch_changes_is_reported_page_by_page(doctored: Path, two_pages: Path):
    said = report(doctored, two_pages)
    assert said.startswith(f"# The book under torch {Edition().version}")
    page = said.split("## docs/tensor.md")[1].split("\n## ")[0]
    assert "### failing: 1" in page and "zero_ is gone" in page
    assert "### deprecations: 1" in page and "DeprecationWarning: use less" in page
    assert "### citations moved or gone: 1" in page
    assert "docs/tensor.md" in page and "the citation moved     src:torch/storage.py#UntypedStorage" in page
    assert "### outputs changed: 1" in page
    assert re.search(r"^-y\.split\(2\)\[0\] +view +view$", page, re.M)
    assert re.search(r"^\+y\.split\(2\)\[0\] +copy +copy$", page, re.M)
    assert "## docs/index.md" not in said, "a page that did not change is not mentioned"


def test_the_edition_itself_does_not_drift():
    said = report(Path(sys.executable), ROOT)
    parts = set(re.findall(r"^### (.+): \d+$", said, re.M))
    assert parts <= (set() if is_edition() else {"outputs changed"}), said
    assert bool(parts) != ("Nothing changed." in said)


def test_a_report_sorts_its_findings():
    said = {"x": "outputs changed", "[fails] it ended with status 1": "failing"}
    said |= {"x\n[fails] it wrote to stderr: X.py:2: FutureWarning: y": "deprecations"}
    found = [Difference("", page.src, "b", "x", 3, "FutureWarning", now) for page, now in zip(BOOK.pages[1::-1], said)]
    assert [kind(replace(found[0], now=now)) for now in said] == list(said.values())
    text = as_markdown(Found(build(), found, {}))
    first, second = (f"## {page.name}\n\n### " for page in BOOK.pages[:2])
    assert text.startswith(f"# The book under torch {Edition().version} ({Edition().commit[:10]})\n")
    assert text.index(f"{first}failing: 1") < text.index(f"{second}outputs changed: 1\n")
    assert f"{BOOK.pages[0].name}:3: x\n-FutureWarning\n+[fails] it ended with status 1\n" in text


def test_an_interpreter_without_torch_is_said_so(tmp_path: Path):
    venv.create(tmp_path / "empty", with_pip=False)
    python = tmp_path / "empty" / "bin" / "python"
    with pytest.raises(RuntimeError, match="torch is not installed in"):
        _ = Edition(str(python)).torch
