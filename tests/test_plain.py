"""Whoever copies a block into a file gets what the page shows: every block runs in a fresh, plain Python, in
default settings, and prints its output. So do the notebooks and scripts that a reader takes along."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Site, fence

from inside_torch import edition, render
from inside_torch.cache import Cache, digest
from inside_torch.fences import fences
from inside_torch.normal import normalised
from inside_torch.takeaway import PROCESS_WIDE

PAGES = sorted((ROOT / "docs").glob("*.md"))
# Compiled code is kept between runs, apart from that of the build, whose settings are others.
DEFAULTS = {name: value for name, value in os.environ.items() if name not in edition.PINNED} | {
    "TORCHINDUCTOR_CACHE_DIR": str(edition.CACHE / "plain-inductor"),
    "TORCH_EXTENSIONS_DIR": str(edition.CACHE / "plain-extensions"),
}
RIGHT = Cache(edition.CACHE / "plain")


# The profiler notes its start and stop on stderr, with the time; the build has it silenced.
PROFILER = re.compile(r"^USDT:.*ActivityProfiler.*profiler_(?:start|stop)\n", re.M)


def printed(source: str, folder: Path) -> str:
    """What a program prints when a reader runs it: its errors, too."""
    path = folder / "block.py"
    path.write_text(source + "\n", encoding="utf-8")
    command = [edition.PYTHON, path.name]
    ran = subprocess.run(command, cwd=folder, env=DEFAULTS, capture_output=True, text=True, timeout=300)
    return normalised(ran.stdout + PROFILER.sub("", ran.stderr))


def difference(source: str, shown: str, folder: Path) -> str:
    """Where a plain run departs from what the page shows; empty when it does not. Agreement is remembered."""
    key = digest(source, shown, render.blocks().fingerprint)
    if RIGHT.get(key) is not None:
        return ""
    folder.mkdir()
    found = printed(source, folder)
    if found == shown:
        RIGHT.put(key, "")
        return ""
    return f"plain Python prints:\n{found}\nand the page shows:\n{shown}"


def differences(page: Path, folder: Path) -> list[str]:
    """The blocks and quizzes of a page that do not print in plain Python what the page shows. Those that the page's
    script runs in an interpreter of their own are run by the test of that script, below."""
    found = [one for one in fences(page.read_text(), page.name)[0] if one.info in ("python", "quiz")]
    found = [one for one in found if not PROCESS_WIDE.search(one.program)]
    shown = [render.blocks().result(one.info, one.source).output for one in found]
    said = [difference(one.program, text, folder / str(one.line)) for one, text in zip(found, shown)]
    return [f"{page.name}:{one.line}: {text}" for one, text in zip(found, said) if text]


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_every_block_prints_in_plain_python_what_its_page_shows(page: Path, tmp_path: Path):
    assert differences(page, tmp_path) == []


def test_a_block_that_leans_on_our_settings_is_noticed(tmp_path: Path):
    leaning = "import os\n\nprint(os.environ.get('OMP_NUM_THREADS'))"
    (tmp_path / "p.md").write_text(f"# P\n\n{fence(leaning)}")
    (said,) = differences(tmp_path / "p.md", tmp_path)
    assert said == "p.md:3: plain Python prints:\nNone\n\nand the page shows:\n1\n"


# What a reader takes along.


def script_output(script: Path, folder: Path) -> str:
    ran = subprocess.run(
        [sys.executable, str(script)], cwd=folder, env=DEFAULTS, capture_output=True, text=True, timeout=900
    )
    return ran.stdout + PROFILER.sub("", ran.stderr)


def outputs(notebook) -> list[str]:
    """What each code cell printed, its warnings, too, but for the first, which installs torch."""
    cells = [cell for cell in notebook.cells[1:] if cell.cell_type == "code"]
    return [PROFILER.sub("", "".join(one.get("text", str(one)) for one in cell.outputs)) for cell in cells]


def run_again(path: Path, folder: Path):
    """A notebook as written, and as it comes out of a kernel of its own."""
    import nbformat
    from nbclient import NotebookClient

    written, run = nbformat.read(path, 4), nbformat.read(path, 4)
    nbformat.validate(written)
    NotebookClient(run, timeout=900, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    return written, run


NAMES = [path.stem for path in [*PAGES, ROOT / "docs" / "tour.py"]]


def with_known_outputs(script: str, run) -> str:
    """The script of a page with each call of `run_alone` replaced by what the same call printed in the notebook: it
    need not run such a program a second time. A call that stands in one of the two only is an error."""
    cells = [cell.source for cell in run.cells[1:] if cell.cell_type == "code"]
    for call, text in zip(cells, outputs(run)):
        if call.startswith("run_alone("):
            assert call in script
            script = script.replace(call, f"print({text!r}, end='')")
    assert "\nrun_alone(" not in script
    return script


@pytest.mark.parametrize("name", NAMES)
def test_the_notebook_and_the_script_of_a_page_print_what_they_show(book: Path, tmp_path: Path, name, monkeypatch):
    notebook, script = book / f"inside-{name}.ipynb", book / f"inside-{name}.py"
    key = digest(notebook.read_text(), script.read_text(), render.blocks().fingerprint)
    if RIGHT.get(key) is not None:
        return
    for setting in edition.PINNED:
        monkeypatch.delenv(setting, raising=False)
    for setting in ("TORCHINDUCTOR_CACHE_DIR", "TORCH_EXTENSIONS_DIR"):
        monkeypatch.setenv(setting, DEFAULTS[setting])
    here, there = tmp_path / "script", tmp_path / "notebook"
    here.mkdir()
    there.mkdir()
    written, run = run_again(notebook, there)
    assert [normalised(one) for one in outputs(run)] == outputs(written)
    (here / script.name).write_text(with_known_outputs(script.read_text(), run))
    assert normalised(script_output(here / script.name, here)) == "".join(outputs(written))
    RIGHT.put(key, "")


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_installs_torch_and_shows_what_its_page_does(book: Path, name):
    import nbformat

    written = nbformat.read(book / f"inside-{name}.ipynb", 4)
    assert f"torch=={edition.torch_version()[0].partition('+')[0]}" in written.cells[0].source
    page = ROOT / "docs" / f"{name}.md"
    if page.exists():
        blocks = [one for one in fences(page.read_text(), name)[0] if one.info in ("python", "quiz")]
        shown = [render.blocks().result(one.info, one.source).output for one in blocks]
        assert [text for text in outputs(written) if text] == [text for text in shown if text]


def test_each_page_as_markdown_holds_its_outputs_and_is_listed(book: Path):
    listed = re.findall(r"^- \[.+?\]\((\S+)\): \S", (book / "llms.txt").read_text(), re.M)
    assert sorted(listed) == sorted(f"{name}.md" for name in NAMES)
    for page in PAGES:
        text = (book / page.name).read_text()
        assert "](src:" not in text and "--8<--" not in text and "```figure" not in text
        for one in fences(page.read_text(), page.name)[0]:
            if one.info in ("python", "quiz"):
                assert render.blocks().result(one.info, one.source).output.rstrip() in text, f"{page.name}:{one.line}"


HARD = """# P

Opening.

```python
print("```")
```

```python
import torch

torch.set_default_dtype(torch.float64)
print(torch.ones(1).dtype)
```

```python
import torch

print(torch.ones(1).dtype)
print('''three''')
```
"""


def test_a_block_that_changes_the_process_gets_one_of_its_own(site: Site, tmp_path: Path):
    built = site.write(index=HARD).build(REPO_URL="https://github.com/someone/book", SITE_URL="https://a.example/")
    assert built.returncode == 0, built.stdout
    written, run = run_again(site.folder / "site" / "inside-index.ipynb", tmp_path)
    assert outputs(run) == outputs(written) == ["", "```\n", "torch.float64\n", "torch.float32\nthree\n"]
    assert script_output(site.folder / "site" / "inside-index.py", tmp_path) == "".join(outputs(written))
    assert "````text\n```\n````" in (site.folder / "site" / "index.md").read_text()
    link = "https://colab.research.google.com/github/someone/book/blob/notebooks/inside-index.ipynb"
    assert f'<a href="{link}">open in Colab</a>' in site.html()
    assert "(https://a.example/index.md): Opening." in (site.folder / "site" / "llms.txt").read_text()


WARNS = """import os
import sys

import torch

torch.set_default_dtype(torch.float64)
"OMP_NUM_THREADS" in os.environ or print("oh", file=sys.stderr)"""


def test_what_a_block_of_its_own_warns_of_is_noticed(site: Site, tmp_path: Path):
    built = site.write(index=f"# P\n\n{fence(WARNS)}").build()
    assert built.returncode == 0, built.stdout
    written, run = run_again(site.folder / "site" / "inside-index.ipynb", tmp_path)
    assert (outputs(written), outputs(run)) == (["", ""], ["", "oh\n"])
    assert script_output(site.folder / "site" / "inside-index.py", tmp_path) == "oh\n"
