"""`make bench`: how fast a book builds, as ratios to one plain process that runs its programs one after another.

That process imports torch and its compilers once, and isolates nothing but the programs that register operators or a
device: torch ends the process of the second that does. Every ratio compares two measurements of the same run of this
file; absolute times depend on the machine.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from inside_torch.book import Book
from inside_torch.edition import ROOT, Edition
from inside_torch.run.needs import needs

# What is measured -> the ratio wanted.
GOALS = {"cold": 0.75, "compilers warm": 1.0, "unchanged": 0.08, "one block edited": 0.1}
CONFIGURATION = """\
INHERIT: {root}/mkdocs.yml
nav:
hooks: [{root}/inside_torch/hooks.py]
watch: []
plugins:
  search: {{}}
"""
LIMIT = """\
import json, os, sys
sys.path.insert(0, {root!r})
import torch._inductor.compile_fx


def run(number, source):
    os.makedirs(f"work{{number}}"); os.chdir(f"work{{number}}")
    try:
        exec(compile(source, "block.py", "exec"), {{"__name__": "__main__"}})
    except BaseException as error:  # what one program leaves behind is in the way of others
        print(number, repr(error), file=sys.stderr)
    os.chdir("..")


registering, others = json.load(open("programs.json"))
for number, source in enumerate(registering):
    child = os.fork()
    if not child:
        run(number, source)
        os._exit(0)
    os.waitpid(child, 0)
for number, source in enumerate(others, len(registering)):
    run(number, source)
os._exit(0)
"""
TINY = "import torch\n\nx = torch.arange({n}, {n} + 6).reshape(2, 3)\nprint(x.t().stride(), x.sum())"
MIDDLE = """\
import torch

torch.manual_seed({n})
x = torch.rand(300, 300)
for _ in range(10 + {n}):
    x = (x @ x).softmax(-1)
print(x.shape, x.sum().round())"""
DYNAMO = """\
import torch


@torch.compile(backend="{backend}")
def f(x):
    return (x.sin() + {n}).square()


print(f(torch.ones(30)))"""


def mixed(tiny: int = 150, middle: int = 30, dynamo: int = 14, inductor: int = 6) -> list[str]:
    """A page of blocks: so many tiny ones, of some 50 ms, with Dynamo alone, and with Inductor."""
    blocks = [TINY.format(n=n) for n in range(tiny)] + [MIDDLE.format(n=n) for n in range(middle)]
    blocks += [DYNAMO.format(n=n, backend="aot_eager") for n in range(dynamo)]
    return blocks + [DYNAMO.format(n=n, backend="inductor") for n in range(inductor)]


def copied(folder: Path) -> Path:
    """The project in a folder of its own, without its caches."""
    for name in ("docs", "examples", "inside_torch", "tests/approved"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("mkdocs.yml", "tests/toytorch.txt"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def corpus(folder: Path, blocks: list[str]) -> Path:
    """A book of one page with the given blocks."""
    (folder / "docs").mkdir(parents=True)
    shutil.copytree(ROOT / "docs" / "assets", folder / "docs" / "assets")
    text = "# Page\n\n" + "\n".join(f"Text.\n\n```python\n{block}\n```\n" for block in blocks)
    (folder / "docs" / "index.md").write_text(text)
    (folder / "mkdocs.yml").write_text(CONFIGURATION.format(root=ROOT))
    return folder


def seconds(command: list[str], folder: Path, environment: dict[str, str]) -> float:
    """How long a command takes. Raises RuntimeError with what it said when it fails."""
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return time.perf_counter() - started


def plain_process(work: Path, programs: list[str]) -> list[str]:
    """The command that runs the programs in one process, in the folder `work`, which is made."""
    work.mkdir()
    (work / "limit.py").write_text(LIMIT.format(root=str(ROOT)))
    parts = [[program for program in programs if needs(program).unregistered == first] for first in (True, False)]
    (work / "programs.json").write_text(json.dumps(parts))
    return [sys.executable, "limit.py"]


def measured(folder: Path) -> dict[str, float]:
    """The ratios of GOALS for the book in `folder`, which is left with one block edited."""
    book = Book.read(folder)
    fence = next(fence for page in book.pages for fence in page.fences if fence.info == "python")
    work = folder / "limit"
    command = plain_process(work, [one.program for page in book.pages for one in page.running])
    caches = {"TORCHINDUCTOR_CACHE_DIR": str(work / "inductor"), "TORCH_EXTENSIONS_DIR": str(work / "extensions")}
    plain = Edition().environment | caches
    quiet = {"INSIDE_TORCH_CACHE": str(folder / "cache"), "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    build = [sys.executable, "-m", "mkdocs", "build"]

    def limit() -> float:
        for left in work.glob("work*"):
            shutil.rmtree(left)
        return seconds(command, work, plain)

    cold_limit, warm_limit = limit(), limit()
    cold = seconds(build, folder, os.environ | quiet)
    shutil.rmtree(folder / "cache" / "blocks")
    warm = seconds(build, folder, os.environ | quiet)
    unchanged = seconds(build, folder, os.environ | quiet)
    page = next(page for page in book.pages if fence in page.fences)
    page.path.write_text(page.path.read_text().replace(fence.source, f"{fence.source}\nprint('edited')", 1))
    edited = seconds(build, folder, os.environ | quiet)
    times = [cold / cold_limit, warm / warm_limit, unchanged / warm_limit, edited / warm_limit]
    return dict(zip(GOALS, times))


# What is measured, by the name of its folder: no space, which Inductor's compiler commands do not survive.
BOOKS = {"the-book": copied, "200-mixed-blocks": lambda folder: corpus(folder, mixed())}


def main() -> None:
    """Measure the book, and a page of 200 mixed blocks."""
    with tempfile.TemporaryDirectory() as folder:
        for name, made in BOOKS.items():
            print(name)
            for what, ratio in measured(made(Path(folder, name))).items():
                print(f"  {what:17} {ratio:5.2f}  (wanted {GOALS[what]})")


if __name__ == "__main__":
    main()
