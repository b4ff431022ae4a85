"""`make bench`: how fast the book builds, as ratios to running its blocks one after another in one process.

The limit is that one plain Python process, which imports torch once and isolates nothing. Every ratio
compares two measurements of the same run of this program; absolute times depend on the machine.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from statistics import median

from inside_torch.edition import ROOT, block_environment
from inside_torch.fences import fences

CONFIGURATION = """\
INHERIT: {root}/mkdocs.yml
nav:
hooks: {hooks}
watch: []
plugins:
  search: {{}}
"""
NO_RUNNING = """\
markdown_extensions:
  - pymdownx.highlight:
      pygments_lang_class: true
  - pymdownx.superfences
"""

TINY = "import torch\n\nx = torch.arange({n}, {n} + 6).reshape(2, 3)\nprint(x.t().stride(), x.sum())"
MIDDLE = """\
import torch

torch.manual_seed({n})
x = torch.rand(300, 300)
for _ in range({steps}):
    x = (x @ x).softmax(-1)
print(x.shape, x.sum().round())"""
DYNAMO = """\
import torch


@torch.compile(backend="aot_eager")
def f(x):
    return (x.sin() + {n}).square()


print(f(torch.ones(3)))"""
INDUCTOR = """\
import torch


@torch.compile
def f(x):
    return (x.sin() + {n}).square().sum()


print(f(torch.ones(30)))"""
LIMIT = """\
import json, sys, os, io, contextlib
sys.path.insert(0, {root!r})
blocks = json.load(open({blocks!r}))
failed = 0
for number, source in enumerate(blocks):
    os.makedirs(f"work{{number}}"); os.chdir(f"work{{number}}")
    try:
        exec(compile(source, f"block{{number}}.py", "exec"), {{"__name__": "__main__"}})
    except Exception as error:
        failed += 1
        print(number, repr(error), file=sys.stderr)
    os.chdir("..")
sys.stdout.flush()
print(failed, "failed", file=sys.stderr)
os._exit(failed > 0)
"""


def mixed() -> list[str]:
    """The 200 blocks of a book to come: 150 tiny, 30 of some 50 ms, 14 with Dynamo, 6 with Inductor."""
    blocks = [TINY.format(n=n) for n in range(150)] + [MIDDLE.format(n=n, steps=10 + n) for n in range(30)]
    blocks += [DYNAMO.format(n=n) for n in range(14)] + [INDUCTOR.format(n=n) for n in range(6)]
    return [blocks[i * 77 % 200] for i in range(200)]  # 77 and 200 have no common factor: every block, in mixed order


def page(blocks: list[str]) -> str:
    return "# Page\n\n" + "\n".join(f"Text about the block.\n\n```python\n{block}\n```\n" for block in blocks)


def without_citations(text: str) -> str:
    """A page with its citations leading nowhere: the limit proves none either."""
    return re.sub(r"\]\(src:(?:[^\s()]|\([^\s()]*\))+\)", "](#)", text)


class Corpus:
    """A temporary site, its blocks, and caches of its own."""

    def __init__(self, folder: Path, pages: dict[str, str], running: bool = True) -> None:
        self.folder = folder
        (folder / "docs").mkdir(parents=True)
        shutil.copytree(ROOT / "docs" / "assets", folder / "docs" / "assets")
        (folder / "examples").symlink_to(ROOT / "examples")
        for name, text in pages.items():
            (folder / "docs" / name).write_text(text)
        found = [fence for text in pages.values() for fence in fences(text, "")[0] if fence.runs]
        self.blocks = [fence.program for fence in found]
        hooks = f"[{ROOT}/inside_torch/hooks.py]" if running else "[]"
        configuration = CONFIGURATION.format(root=ROOT, hooks=hooks) + ("" if running else NO_RUNNING)
        (folder / "mkdocs.yml").write_text(configuration)
        self.environment = os.environ | {
            "INSIDE_TORCH_CACHE": str(folder / "cache"),
            "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
            "NO_MKDOCS_2_WARNING": "1",
            "PYTHONPATH": str(ROOT),
        }

    def forget(self, *names: str) -> None:
        for name in names:
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def start(self, *arguments: str) -> subprocess.Popen:
        command = [sys.executable, "-m", "mkdocs", *arguments]
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, stderr=subprocess.PIPE, text=True)

    def build(self) -> float:
        """Seconds of one build. Raises RuntimeError when it fails."""
        started = time.perf_counter()
        process = self.start("build")
        said = process.communicate()[1]
        if process.returncode:
            raise RuntimeError(said)
        return time.perf_counter() - started

    def limit(self) -> float:
        """Seconds of all blocks, one after another, in one plain Python process."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        (folder / "blocks.json").write_text(json.dumps(self.blocks))
        (folder / "limit.py").write_text(LIMIT.format(root=str(ROOT), blocks=str(folder / "blocks.json")))
        caches = {"TORCHINDUCTOR_CACHE_DIR": str(self.folder / "limit-inductor")}
        caches["TORCH_EXTENSIONS_DIR"] = str(self.folder / "limit-extensions")
        started = time.perf_counter()
        subprocess.run(
            [sys.executable, "limit.py"],
            cwd=folder,
            env=block_environment() | caches,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        return time.perf_counter() - started

    def edit(self, number: int) -> Path:
        """Change one block in the middle of the corpus, so that it prints `edited NUMBER`."""
        source = self.blocks[len(self.blocks) // 2]
        for path in sorted((self.folder / "docs").glob("*.md")):
            text = path.read_text()
            if source in text:
                edited = source.split("\nprint('edited'")[0] + f"\nprint('edited', {number})"
                path.write_text(text.replace(source, edited, 1))
                self.blocks[len(self.blocks) // 2] = edited
                return path
        raise RuntimeError("the block to edit is on no page")


def proportional_memory(pid: int) -> int:
    """Bytes used by a process and all below it, shared pages counted once (PSS)."""
    total, pending = 0, [pid]
    while pending:
        pid = pending.pop()
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            total += next(int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Pss:"))
            for children in Path(f"/proc/{pid}/task").glob("*/children"):
                pending += map(int, children.read_text().split())
        except (OSError, StopIteration):
            continue
    return total


def peak_memory(corpus: Corpus) -> int:
    """The most memory that a build without any cache uses at a time, in bytes."""
    process = corpus.start("build")
    threading.Thread(target=process.stderr.read, daemon=True).start()
    peak = 0
    while process.poll() is None:
        peak = max(peak, proportional_memory(process.pid))
        time.sleep(0.1)
    return peak


def serve_seconds(corpus: Corpus, port: int, repeats: int = 5) -> float:
    """Median seconds from saving an edit to the new page, under `mkdocs serve`."""
    address = f"127.0.0.1:{port}"
    process = corpus.start("serve", "--livereload", "--dev-addr", address)
    threading.Thread(target=process.stderr.read, daemon=True).start()

    def shown(path: Path, text: str) -> bool:
        try:
            with urllib.request.urlopen(f"http://{address}/{path.stem}.html", timeout=30) as reply:
                return text in reply.read().decode().replace("<span", "\n<span")
        except OSError:
            return False

    def wait_until_shown(path: Path, text: str) -> None:
        end = time.perf_counter() + 300
        while not shown(path, text):
            if time.perf_counter() > end:
                raise RuntimeError(f"{path.stem} never showed {text!r}")
            time.sleep(0.01)

    first = sorted((corpus.folder / "docs").glob("*.md"))[0]
    taken = []
    try:
        wait_until_shown(first, "<h1")
        for number in range(100, 100 + repeats + 1):
            time.sleep(1)
            path = corpus.edit(number)
            started = time.perf_counter()
            wait_until_shown(path, f"{number}</span>")
            taken.append(time.perf_counter() - started)
    finally:
        process.terminate()
        process.wait()
    return median(taken[1:])


def measure(name: str, corpus: Corpus, still: Corpus, port: int) -> None:
    """Print the rows of one corpus."""

    def row(what: str, seconds: float, limit: float, goal: str) -> None:
        print(f"| {name} | {what} | {seconds:.2f} s | {seconds / limit:.2f} | {goal} |", flush=True)

    limit_cold = corpus.limit()
    row("all caches empty", corpus.build(), limit_cold, "0.75")
    limit = median(corpus.limit() for _ in range(3))
    warm = []
    for _ in range(3):
        corpus.forget("cache/blocks", "cache/html")
        warm.append(corpus.build())
    row("compilers' caches warm", median(warm), limit, "1.10")
    row("nothing changed", median(corpus.build() for _ in range(5)), limit, "0.12")
    edited = []
    for number in range(3):
        corpus.edit(number)
        edited.append(corpus.build())
    row("one block edited", median(edited), limit, "0.25")
    running, switched_off = serve_seconds(corpus, port), serve_seconds(still, port + 1)
    ratio = running / switched_off
    print(f"| {name} | serve: edit to page, against running nothing | {running:.2f} s | {ratio:.2f} | 1.20 |")
    corpus.forget("cache/blocks", "cache/html")
    print(
        f"| {name} | peak memory, shared pages once | {peak_memory(corpus) / 2**30:.2f} GiB | | 2.5 GiB |", flush=True
    )


def main() -> None:
    book = {path.name: without_citations(path.read_text()) for path in sorted((ROOT / "docs").glob("t*.md"))}
    future = mixed()
    corpora = {"the book": book, "200 mixed": {f"page{i}.md": page(future[i * 20 : i * 20 + 20]) for i in range(10)}}
    folder = Path(tempfile.mkdtemp(prefix="inside-torch-bench-"))
    print("| corpus | measured | time | ratio | goal |\n|---|---|---|---|---|")
    try:
        for number, (name, pages) in enumerate(corpora.items()):
            corpus = Corpus(folder / f"corpus{number}", pages)
            still = Corpus(folder / f"still{number}", pages, running=False)
            measure(name, corpus, still, 8765 + 2 * number)
        per_block = {}
        for count in (250, 500, 1000):
            blocks = [TINY.format(n=n) for n in range(count)]
            pages = {f"page{i}.md": page(blocks[i : i + 25]) for i in range(0, count, 25)}
            seconds = Corpus(folder / f"count{count}", pages).build()
            each = per_block[count] = 1000 * seconds / count
            print(f"| {count} small blocks | all caches empty | {seconds:.2f} s | {each:.0f} ms a block | |")
        growth = per_block[1000] / per_block[250]
        print(f"| | time a block at 1000 against 250 | | {growth:.2f} | 1.00 or less: linear |")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
