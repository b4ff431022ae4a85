"""Whoever copies a block into a file gets what the page shows: every block runs in a plain Python, in default
settings, and prints its output. So does every notebook that a reader takes along.

Most run as forks of a server that has torch imported and nothing of ours; a probe shows in what such a fork differs
from a fresh interpreter. Fresh interpreters still run what changed since main (on main: in the last commit), and a
sixteenth of the rest.

And each runs with one core, as on a small machine: in the notebook of its page with all others; what has a process of
its own there has one here, when it changed, and on every second day, on which it needs no run with all cores."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import nbformat
import pytest
from conftest import BOOK, ROOT, Site, build, fence

from inside_torch.book import Page
from inside_torch.edition import PINNED, Edition
from inside_torch.fences import Fence
from inside_torch.run.blocks import usable_cores
from inside_torch.run.cache import Cache, digest
from inside_torch.run.needs import needs
from inside_torch.run.normal import normalised, without_notices
from inside_torch.run.runner import Runner
from inside_torch.take.files import file_names
from inside_torch.take.notebook import PICTURE

PAGES = [page for page in BOOK.pages if page.programs]
EDITION = Edition()
# How threads of OpenMP wait for each other. By default they turn in circles, which takes the core from others who test.
SLEEP = {"OMP_WAIT_POLICY": "PASSIVE"}
# A reader lives elsewhere. What Inductor compiled is kept between runs, apart from that of the build, whose settings
# are others.
DEFAULTS = {name: value for name, value in os.environ.items() if name not in PINNED | SLEEP} | {
    "HOME": str(EDITION.cache / "plain-home"),
    "LC_ALL": "C",
    "TZ": "Asia/Tokyo",
    "TORCHINDUCTOR_CACHE_DIR": str(EDITION.cache / "plain-inductor"),
    "TORCH_EXTENSIONS_DIR": str(EDITION.cache / "plain-extensions"),
}
Path(DEFAULTS["HOME"]).mkdir(parents=True, exist_ok=True)
RIGHT = Cache(EDITION, "plain", "run")
# A program that compares times, which other work on the machine would disturb.
CLOCK = re.compile(r"\b(?:timeit|thread_time|process_time|perf_counter|Timer)\b")
CLOCKED = [page for page in PAGES if CLOCK.search(page.text)]
EVERYTHING = os.environ.get("INSIDE_TORCH_FRESH") == "all"  # the weekly workflow
TODAY = date.today().toordinal()


def compiled(source: str) -> Path:
    """Where the build keeps the extensions of a program. Ninja compiles what these settings would compile otherwise."""
    return EDITION.extensions / build().blocks.outputs.key(source)[:16]


def fresh(source: str, folder: Path) -> str:
    """What a program prints in an interpreter of its own: its errors, too."""
    folder.mkdir(exist_ok=True)
    path = folder / "block.py"
    path.write_text(source + "\n", encoding="utf-8")
    command, environment = [EDITION.python, path.name], DEFAULTS | {"TORCH_EXTENSIONS_DIR": str(compiled(source))}
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    return normalised(ran.stdout + without_notices(ran.stderr))


@functools.cache
def plain() -> Runner:
    """A server in default settings, whose forks wait asleep. It has imported torch, which counts cores then only."""
    runner = Runner(EDITION, environment=DEFAULTS | SLEEP)
    runner.run("", full=True)
    return runner


def forked(source: str, folder: Path) -> str:
    """What a program prints in a fork of a plain Python that has imported torch: its errors, too."""
    outcome = plain().run(source, full=True, extensions=compiled(source))
    return normalised(outcome.stdout.decode() + without_notices(outcome.stderr.decode()))


def confined(source: str, folder: Path) -> str:
    """What such a fork prints within `one_core`."""
    return forked(source, folder)


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Lets all that this process and the server begin have the same core, which they inherit."""
    both, cores = (0, plain().process.pid), os.sched_getaffinity(0)
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    core = sorted(cores)[worker % len(cores)]  # those who test at once take different ones
    for process in both:
        os.sched_setaffinity(process, {core})
    try:
        yield
    finally:
        for process in both:
            os.sched_setaffinity(process, cores)


def git(root: Path, *words: str) -> str:
    """What git says; nothing where it fails."""
    ran = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True)
    return "" if ran.returncode else ran.stdout.strip()


def before(root: Path) -> str:
    """The commit that this work began from: main, and on main the commit before; empty where git knows neither."""
    main = git(root, "rev-parse", "--verify", "origin/main") or git(root, "rev-parse", "--verify", "main")
    here, parent = git(root, "rev-parse", "HEAD"), git(root, "rev-parse", "--verify", "HEAD~1")
    return parent if parent and main == here else main


@functools.cache
def sources_before() -> set[str]:
    """The programs that the book had at that commit."""
    commit = before(ROOT)
    names = git(ROOT, "ls-tree", "-r", "--name-only", commit, "docs").split() if commit else []
    texts = [git(ROOT, "show", f"{commit}:{name}") for name in names if name.endswith(".md")]
    return {one.program for text in texts for one in Page(ROOT, "p.md", "p.md", text + "\n").programs}


def has_its_turn(block: Fence, days: int) -> bool:
    """Whether this is the block's day, of so many."""
    return int(digest(block.program)[:8], 16) % days == TODAY % days


def runs(page: Page, block: Fence) -> list[Callable[[str, Path], str]]:
    """How a block runs today. With all cores, in an interpreter of its own what changed, the first of a page, and each
    in its turn; with one core, of those that their page's notebook does not run so, what changed, and each in its
    turn."""
    changed = EVERYTHING or block.program not in sources_before()
    one_core_too = needs(block.program).alone and (changed or has_its_turn(block, 2))
    if changed or block == page.programs[0] or has_its_turn(block, 16):
        return [fresh, confined] if one_core_too else [fresh]
    return [confined if one_core_too else forked]


def difference(block: Fence, shown: str, run, folder: Path) -> str:
    """Where a plain run departs from what the page shows; empty when it does not. Agreement is remembered."""
    if RIGHT.get(run.__name__, block.program, shown):
        return ""
    found = run(block.program, folder)
    if found == shown:
        RIGHT.put(True, run.__name__, block.program, shown)
        return ""
    return f"plain Python prints:\n{found}\nand the page shows:\n{shown}"


def differences(page: Page, folder: Path, clocked: bool) -> list[str]:
    """The blocks and quizzes of a page that do not print in plain Python what the page shows: those that read a clock,
    one after another, or all others."""
    programs = [block for block in page.programs if bool(CLOCK.search(block.program)) == clocked]

    def said(block: Fence, run) -> str:
        text = difference(block, build().result(block).output, run, folder / str(block.line))
        return text and f"{page.name}:{block.line}: {text}"

    ways = [(block, run) for block in programs for run in runs(page, block)]
    with ThreadPoolExecutor(1 if clocked or "PYTEST_XDIST_WORKER" in os.environ else usable_cores()) as pool:
        found = list(pool.map(said, *zip(*[way for way in ways if way[1] is not confined], strict=True)))
        with one_core():
            found += pool.map(said, *zip(*[way for way in ways if way[1] is confined], strict=True))
    return [text for text in found if text]


def test_what_changed_is_told_from_main_and_on_main_from_the_commit_before(tmp_path: Path):
    assert before(tmp_path) == ""
    git(tmp_path, "init", "--initial-branch=main")
    commit = [
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@b.c",
        "-c",
        "commit.gpgsign=false",
        "commit",
        "--allow-empty",
        "--message",
    ]
    heads = []
    for message in ("first", "second"):
        git(tmp_path, *commit, message)
        heads.append(git(tmp_path, "rev-parse", "HEAD"))
    assert before(tmp_path) == heads[0] != heads[1]
    git(tmp_path, "switch", "--create", "work")
    git(tmp_path, *commit, "third")
    assert before(tmp_path) == heads[1]


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_every_block_prints_in_plain_python_what_its_page_shows(page: Page, tmp_path: Path):
    assert differences(page, tmp_path, clocked=False) == []


@pytest.mark.quiet
@pytest.mark.parametrize("page", CLOCKED, ids=[page.stem for page in CLOCKED])
def test_every_block_that_reads_a_clock_does_so_when_nothing_else_runs(page: Page, tmp_path: Path):
    assert differences(page, tmp_path, clocked=True) == []


# A program that prints a setting -> what its page shows, and what a reader gets.
LEANING = {
    "import os\n\nprint(os.environ.get('OMP_NUM_THREADS'))": ("1", "None"),
    "import time\n\nprint(time.tzname[0])": ("UTC", "JST"),
    "import locale\n\nprint(locale.setlocale(locale.LC_CTYPE, ''))": ("C.UTF-8", "C"),
    "from pathlib import Path\n\nprint(Path.home().name)": (Path.home().name, "plain-home"),
}


@pytest.mark.parametrize("run", [fresh, forked])
@pytest.mark.parametrize("leaning", LEANING)
def test_a_block_that_leans_on_our_settings_is_noticed(run, leaning, tmp_path: Path):
    ours, theirs = LEANING[leaning]
    block = Fence("python", leaning, 3)
    said = difference(block, build().result(block).output, run, tmp_path)
    assert said == f"plain Python prints:\n{theirs}\n\nand the page shows:\n{ours}\n"


def test_a_block_is_noticed_in_the_run_that_it_belongs_to(tmp_path: Path):
    leaning = f"import gc\n{next(iter(LEANING))}"
    timed = "import timeit\n" + leaning
    page = Page(ROOT, "p.md", "p.md", f"{fence(leaning)}\n{fence(timed)}")
    lines = [[said.split(":")[1] for said in differences(page, tmp_path, clocked)] for clocked in (False, True)]
    assert lines == [[str(block.line)] * 2 for block in page.programs], "with all cores, and with one"


def test_a_block_that_counts_its_cores_is_noticed(tmp_path: Path):
    counts = Fence("python", "import os\n\nprint(len(os.sched_getaffinity(0)))", 3)
    cores = len(os.sched_getaffinity(0))
    with one_core():
        said = difference(counts, "2\n", confined, tmp_path)
    assert said == "plain Python prints:\n1\n\nand the page shows:\n2\n"
    assert forked(counts.program, tmp_path) == f"{cores}\n", "the others have all cores again"
    page = Page(ROOT, "p.md", "p.md", fence(f"import gc\n{counts.program}"))
    assert len(differences(page, tmp_path, clocked=False)) == (cores > 1), "it runs with all cores, and with one"


def test_a_server_that_begins_for_one_core_has_the_threads_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys.modules[__name__], "plain", functools.cache(plain.__wrapped__))
    with one_core():
        confined("", tmp_path)
    threads = "import torch\n\nprint(torch.get_num_threads())"
    assert forked(threads, tmp_path) == fresh(threads, tmp_path)
    plain().close()


def test_a_changed_block_and_each_pages_first_get_a_fresh_interpreter():
    page = Page(ROOT, "p.md", "p.md", f"{fence('print(1)')}\n{fence('print(2)')}\n{fence('import gc')}")
    assert [runs(page, block) for block in page.programs] == [[fresh], [fresh], [fresh, confined]], "none is on main"
    old = next(page for page in BOOK.pages if len(page.programs) > 20)
    assert fresh in runs(old, old.programs[0])


def test_in_two_days_a_block_runs_with_all_cores_and_with_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        sys.modules[__name__], "sources_before", {one.program for page in PAGES for one in page.programs}.copy
    )
    assert {run for page in PAGES for block in page.programs for run in runs(page, block)} == {fresh, forked, confined}
    ways = {}
    for day in (TODAY, TODAY + 1):
        monkeypatch.setattr(sys.modules[__name__], "TODAY", day)
        for page in PAGES:
            for block in page.programs:
                ways.setdefault(block.program, set()).update(runs(page, block))
    for program, seen in ways.items():
        assert seen & {fresh, forked}, program
        assert (confined in seen) == needs(program).alone, "the others run with one core in a notebook, each day"


# What a program may find out about the process that it runs in.
PROBE = """
import gc, json, locale, logging, os, random, signal, sys, threading, warnings
import numpy, torch

state = {
    "flags": list(sys.flags), "warnoptions": sys.warnoptions, "path": sys.path[1:], "argv": sys.argv,
    "hooks": [sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__, sys.gettrace() is None],
    "streams": [[one.encoding, one.errors, one.isatty()] for one in (sys.stdin, sys.stdout, sys.stderr)],
    "main": sorted(vars(sys.modules["__main__"])), "name": __name__,
    "environment": {name: value for name, value in os.environ.items() if name not in ("TMPDIR", "LINES", "COLUMNS")},
    "filters": [[one[0], str(one[1]), one[2].__name__, str(one[3]), one[4]] for one in warnings.filters],
    "signals": [str(signal.getsignal(one)) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)],
    "threads": threading.active_count(), "tasks": len(os.listdir("/proc/self/task")),
    "gc": [gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()],
    "handlers": [len(logging.getLogger().handlers), logging.getLogger().level],
    "locale": locale.setlocale(locale.LC_ALL), "recursion": sys.getrecursionlimit(),
    "seed": torch.initial_seed(),
    "torch": [torch.get_num_threads(), torch.get_num_interop_threads(),
              str(torch.get_default_dtype()), str(torch.get_default_device()),
              torch.is_grad_enabled(), torch.are_deterministic_algorithms_enabled(),
              torch.backends.cpu.get_cpu_capability(), torch.get_float32_matmul_precision()],
    "ours": sorted(name for name in sys.modules if name.startswith("inside_torch")),
    "descriptors": sorted(os.listdir("/proc/self/fd"))[:3],
}
compilers = {}
if "torch._dynamo" in sys.modules:
    from torch._dynamo import convert_frame, utils
    counters = {name: dict(counts) for name, counts in utils.counters.items() if counts}
    compilers = {"frames": convert_frame.FRAME_COUNTER, "counters": counters}
print(json.dumps([state, sorted(sys.modules), compilers]))
"""
# In what a fork differs from a fresh interpreter, and why no block of the book can tell.
LEFT = {
    "filters": "sympy, which torch's compilers import, adds one for its own deprecations",
    "path": "setuptools, which they import, appends a folder of its own",
    "tasks": "the threads of BLAS do not survive a fork; it starts them when it needs them",
    "seed": "it is drawn when torch is imported; two servers and two interpreters never share one",
    "environment": "only in what is listed below",
}
SET = {
    "TORCH_EXTENSIONS_DIR": "it names a folder for each block",
    "OMP_WAIT_POLICY": "it says how threads wait, not what they compute",
    "CUBLAS_WORKSPACE_CONFIG": "what the server imports sets it, for a GPU",
}


def test_a_fork_differs_from_a_fresh_interpreter_in_what_is_listed_and_nothing_else(tmp_path: Path):
    (ours, ours_modules, compilers), (theirs, modules, _) = (
        json.loads(run(PROBE, tmp_path / run.__name__)) for run in (forked, fresh)
    )
    different = {name for name in ours if ours[name] != theirs[name]}
    assert different - LEFT.keys() == set(), [(name, ours[name], theirs[name]) for name in sorted(different)]
    named = {name for one in (ours, theirs) for name in one["environment"]}
    unlike = {name for name in named if ours["environment"].get(name) != theirs["environment"].get(name)}
    assert unlike - SET.keys() == set()
    assert set(modules) <= set(ours_modules), "a fork has more modules, never fewer"
    assert ours["ours"] == [], "and none of the book's"
    assert not any(compilers.values()), "no compilation has been counted"


ASKS = """
import gc, torch

print(gc.get_freeze_count(), len(gc.get_objects()) > 100_000)"""


def test_a_program_that_asks_the_collector_is_told_of_every_object(tmp_path: Path):
    assert forked(ASKS, tmp_path) == fresh(ASKS, tmp_path) == "0 True\n"


COMPILES = """
import os, sys
import torch

before = set(sys.modules)


@torch.compile
def f(x, w):
    return ((x @ w).relu() * 2).sum()


x, w = torch.ones(3, 3), torch.ones(3, 3, requires_grad=True)
optimizer = torch.optim.AdamW([w])
f(x, w).backward()
optimizer.step()
print(len(os.listdir(f"/proc/{os.getppid()}/task")))
print(*sorted(set(sys.modules) - before), sep="\\n")
"""


def test_what_a_compile_imports_is_preloaded_in_a_server_of_one_thread(tmp_path: Path):
    threads, *imported = forked(COMPILES, tmp_path).split()
    assert threads == "1"
    assert [name for name in imported if not re.search(r"\.kernel$|\.compile_tasks\.", name)] == [], "add it to COMPILE"


# What a reader takes along.


def outputs(notebook) -> list[str]:
    """What each code cell printed, its warnings, too, but for the first, which installs torch."""
    cells = [cell for cell in notebook.cells[1:] if cell.cell_type == "code"]
    return [without_notices("".join(one.get("text", str(one)) for one in cell.outputs)) for cell in cells]


def kernel_run(path: Path, folder: Path):
    """A notebook as written, and as it comes out of a kernel of its own."""
    from nbclient import NotebookClient

    written, run = nbformat.read(path, 4), nbformat.read(path, 4)
    nbformat.validate(written)
    NotebookClient(run, timeout=900, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    return written, run


MARK = "-- next cell --"


def fork_run(notebook, folder: Path, run=confined) -> list[str | None]:
    """What the code cells print one after another in one fork with one core; None for those that start an interpreter
    of their own, whose programs are run above."""
    cells = [cell for cell in notebook.cells[1:] if cell.cell_type == "code"]
    shared = [one for one in cells if not one.source.startswith("run_alone(")]
    with one_core():
        printed = run("\n".join(f"print({MARK!r})\n{one.source}" for one in shared), folder)
    found = iter(printed.split(f"{MARK}\n")[1:])
    return [None if one not in shared else next(found, "") for one in cells]


def shown(page: Page, notebook) -> list[str]:
    """What the page shows for each code cell of its notebook, which keeps the answers of quizzes to itself."""
    if page.kind == "notebook":
        return outputs(notebook)
    printed = [build().result(block).output for block in page.programs]
    return [""] * (len(outputs(notebook)) - len(printed)) + printed


STEMS = [page.stem for page in BOOK.pages]
BY_STEM = {page.stem: page for page in BOOK.pages}
KERNELS = {"tour", "footguns"}  # the notebook of the book, and a page whose cells run in both ways


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.quiet] * (BY_STEM[name] in CLOCKED)) for name in STEMS]
)
def test_the_notebook_of_a_page_prints_what_it_shows(book: Path, tmp_path: Path, name, monkeypatch):
    path = book / file_names(name)["notebook"]
    written = nbformat.read(path, 4)
    right = shown(BY_STEM[name], written)
    if RIGHT.get("notebook on one core", path.read_text(), *right):
        return
    if name in KERNELS:
        for setting in PINNED:
            monkeypatch.delenv(setting, raising=False)
        for setting in ("TORCHINDUCTOR_CACHE_DIR", "TORCH_EXTENSIONS_DIR"):
            monkeypatch.setenv(setting, DEFAULTS[setting])
        with one_core():
            found = [normalised(one) for one in outputs(kernel_run(path, tmp_path)[1])]
    else:
        found = fork_run(written, tmp_path)
        programs = BY_STEM[name].programs
        apart = [one is None for one in found[len(found) - len(programs) :]]
        assert apart == [needs(block.program).alone for block in programs], "or some block never has one core"
    assert [of_page if of_cell is None else of_cell for of_cell, of_page in zip(found, right)] == right
    RIGHT.put(True, "notebook on one core", path.read_text(), *right)


def test_a_cell_that_prints_something_else_is_noticed(tmp_path: Path):
    cells = [nbformat.v4.new_code_cell(source) for source in ("%pip", "x = 1", "print(x + 1)", "print(undefined)")]
    found = fork_run(nbformat.v4.new_notebook(cells=cells), tmp_path)
    assert found[:2] == ["", "2\n"] and "NameError: name 'undefined' is not defined" in found[2]


def test_a_cell_that_counts_its_cores_is_noticed(tmp_path: Path):
    cells = [nbformat.v4.new_code_cell(source) for source in ("%pip", "import os\nprint(len(os.sched_getaffinity(0)))")]
    cores = len(os.sched_getaffinity(0))
    assert fork_run(nbformat.v4.new_notebook(cells=cells), tmp_path) == ["1\n"], "a page would show all of them"
    cells[0] = nbformat.v4.new_code_cell("")
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "counts.ipynb")
    with one_core():
        assert outputs(kernel_run(tmp_path / "counts.ipynb", tmp_path)[1]) == ["1\n"]
    assert len(os.sched_getaffinity(0)) == cores


@pytest.mark.parametrize("name", STEMS)
def test_a_notebook_installs_torch_and_its_script_has_the_same_cells(book: Path, name):
    import jupytext

    names = file_names(name)
    written = nbformat.read(book / names["notebook"], 4)
    assert f"torch=={EDITION.release}" in written.cells[0].source
    script = jupytext.read(book / names["script"])
    assert [cell.source for cell in script.cells] == [PICTURE.sub("", cell.source) for cell in written.cells]
    if (page := BY_STEM[name]).kind != "notebook":
        blocks = [build().result(block).output for block in page.programs if block.info == "python"]
        assert [text for text in outputs(written) if text] == [text for text in blocks if text]


def test_each_page_as_markdown_holds_its_outputs_and_is_listed(book: Path):
    listed = re.findall(r"^- \[.+?\]\((\S+)\): \S", (book / "llms.txt").read_text(), re.M)
    assert sorted(listed) == sorted(f"{name}.md" for name in STEMS)
    for page in (page for page in BOOK.pages if page.kind != "notebook"):
        text = (book / page.src).read_text()
        assert "](src:" not in text and "--8<--" not in text and "```figure" not in text
        for block in page.programs:
            assert build().result(block).output.rstrip() in text, f"{page.name}:{block.line}"


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


def script_output(script: Path, folder: Path) -> str:
    command = [sys.executable, str(script)]
    ran = subprocess.run(command, cwd=folder, env=DEFAULTS, capture_output=True, text=True, timeout=900)
    return ran.stdout + without_notices(ran.stderr)


def test_a_block_that_changes_the_process_gets_one_of_its_own(site: Site, tmp_path: Path):
    built = site.write(index=HARD).build(REPO_URL="https://github.com/someone/book", SITE_URL="https://a.example/")
    assert built.returncode == 0, built.stdout
    assert needs("torch.set_default_dtype(torch.float64)").alone
    assert needs("from torch import distributed as dist").alone
    written, run = kernel_run(site.folder / "site" / "inside-index.ipynb", tmp_path)
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
    written, run = kernel_run(site.folder / "site" / "inside-index.ipynb", tmp_path)
    assert (outputs(written), outputs(run)) == (["", ""], ["", "oh\n"])
    assert script_output(site.folder / "site" / "inside-index.py", tmp_path) == "oh\n"
