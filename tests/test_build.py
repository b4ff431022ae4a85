"""Builds: what is cached, what is not, and what survives a crash."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from conftest import ROOT, Site, fence, left_behind

COUNTING = "import os\nprint('block', {})"


def blocks_to_run(said: str) -> str:
    return next(line for line in said.splitlines() if "blocks to run" in line).split("-  ")[1]


def pages(count: int) -> str:
    return "# P\n\n" + "\n".join(fence(COUNTING.format(n)) for n in range(count))


def test_a_cached_and_a_fresh_build_are_the_same_bytes(site: Site):
    figure = "import torch\nfrom inside_torch.figures import storage_strip\nx = torch.arange(6)\n"
    figure += "print(storage_strip({'x': x, 'x[1:]': x[1:]}, title='One storage, two tensors'))"
    site.write(index=pages(8) + fence(figure, "figure"))
    first = site.build()
    assert (first.returncode, blocks_to_run(first.stdout)) == (0, "9 of 9 blocks to run")
    fresh = site.files()
    second = site.build()
    assert (second.returncode, blocks_to_run(second.stdout)) == (0, "0 of 9 blocks to run")
    assert site.files() == fresh
    one_core = site.build(INSIDE_TORCH_CACHE=str(site.folder / "other"), TZ="Asia/Tokyo", HOME="/nowhere", LC_ALL="C")
    assert (one_core.returncode, blocks_to_run(one_core.stdout)) == (0, "9 of 9 blocks to run")
    assert site.files() == fresh


LOADED = "import sys; import inside_torch.{}; print('torch' in sys.modules)"


@pytest.mark.parametrize(("module", "loads"), [("hooks", "False"), ("figures", "True")])
def test_a_build_does_not_wait_for_torch(module, loads):
    """Its servers import torch, while the build goes on; the figures are theirs."""
    command = [sys.executable, "-c", LOADED.format(module)]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout == f"{loads}\n"


def test_an_edit_runs_the_edited_block_only(site: Site):
    site.write(index=pages(4)).build()
    edited = site.write(index=pages(4).replace("'block', 2", "'edited', 2")).build()
    assert blocks_to_run(edited.stdout) == "1 of 4 blocks to run"
    assert "<samp>edited 2</samp>" in site.html()


def test_a_damaged_entry_is_run_again(site: Site):
    site.write(index=pages(4)).build()
    entries = sorted((site.folder / "cache" / "blocks").rglob("*.json"))
    entries[0].write_text("")
    entries[1].write_bytes(b"\xff\x00")
    changed = json.loads(entries[2].read_text())
    entries[2].write_text(json.dumps(changed | {"value": "a lie\n"}))
    again = site.build()
    assert (again.returncode, blocks_to_run(again.stdout)) == (0, "3 of 4 blocks to run")
    assert "a lie" not in site.html()


def test_a_failure_is_run_again(site: Site):
    marker = site.folder / "fixed"
    site.write(index=fence(f"import os\nassert os.path.exists({str(marker)!r})\nprint('fixed')"))
    assert site.build().returncode == 1
    marker.touch()
    assert site.build().returncode == 0
    assert "<samp>fixed</samp>" in site.html()


def wait_for(condition, seconds: float = 60):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def children(pid: int) -> list[int]:
    """The processes that a process has begun, in any of its threads."""
    lists = [task / "children" for task in Path(f"/proc/{pid}/task").iterdir()]
    return [int(child) for path in lists for child in path.read_text().split()]


def alive(pid: int) -> bool:
    """Whether a process runs; what has ended and waits to be noticed has no command line."""
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


def test_kill_9_in_the_middle_leaves_nothing_and_the_next_build_works(site: Site):
    slow = "import subprocess, time\nsubprocess.Popen(['sleep', '902.5'], start_new_session=True)\ntime.sleep(902)"
    site.write(index=pages(3) + fence(slow))
    build = subprocess.Popen(site.command("build"), cwd=site.folder, env=site.environment, stderr=subprocess.DEVNULL)
    wait_for(lambda: left_behind("902.5") and site.cached() == 3)
    servers = children(build.pid)
    assert servers
    os.kill(build.pid, signal.SIGKILL)
    build.wait()
    wait_for(lambda: not left_behind("902.5"))
    wait_for(lambda: not any(map(alive, servers)))
    again = site.write(index=pages(3)).build()
    assert (again.returncode, blocks_to_run(again.stdout)) == (0, "0 of 3 blocks to run")


def test_two_builds_at_once_make_one_right_site(site: Site):
    site.write(index=pages(6))
    both = [
        subprocess.Popen(site.command("build"), cwd=site.folder, env=site.environment, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    said = [build.communicate(timeout=120)[1] for build in both]
    assert [build.returncode for build in both] == [0, 0], said
    for number in range(6):
        assert f"<samp>block {number}</samp>" in site.html()
    at_once = site.files()
    site.build()
    assert site.files() == at_once


def test_blocks_run_without_fork_too(site: Site):
    from inside_torch.edition import Edition
    from inside_torch.run.blocks import judge
    from inside_torch.run.runner import Runner

    runner = Runner(Edition(), forks=False, deadline=20)
    try:
        assert judge(runner.run("import torch\nprint(torch.ones(2))")).output == "tensor([1., 1.])\n"
        assert judge(runner.run("1 / 0")).failure == "it ended with status 1: ZeroDivisionError: division by zero"
        assert "before its last line" in judge(runner.run("import os\nos._exit(0)")).failure
        assert "more than" in judge(runner.run("print('x' * 10**7)")).failure
        assert "No module named 'inside_torch'" in judge(runner.run("import inside_torch")).failure
    finally:
        runner.close()


def test_a_page_that_hides_a_block_from_the_build_is_refused(site: Site):
    hidden = '<div class="language-python highlight">typed</div>'
    built = site.write(index=fence("print(1)") + "\n" + hidden + "\n").build()
    assert built.returncode == 1
    assert "docs/index.md:1: the page shows Python that did not run" in built.stdout


def test_formulas_are_mathml_and_a_bad_one_stops_the_build(site: Site):
    assert (
        site.write(index="The offset is $o + i s$, and costs $5 or $6.\n\n$$\n\\frac{a}{b}\n$$\n").build().returncode
        == 0
    )
    page = site.html()
    assert page.count("<math ") == 2
    assert "$5 or $6" in page
    bad = site.write(index="# P\n\ntext\n$\\frac{a$\n\nand $\\nope{a}$\n\n$$\n\\frac{b\n$$\n").build()
    assert bad.returncode == 1
    assert r"docs/index.md:4: the formula '\\frac{a' has braces without a partner" in bad.stdout
    assert r"docs/index.md:6: the formula '\\nope{a}' holds the unknown command \nope" in bad.stdout
    assert "docs/index.md:9: the formula" in bad.stdout


def test_progress_is_a_bar_on_a_terminal_and_lines_elsewhere(site: Site):
    site.write(index=pages(30))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    build = subprocess.Popen(site.command("build"), cwd=site.folder, env=site.environment, stderr=theirs, stdout=theirs)
    os.close(theirs)
    seen = b""
    with contextlib.suppress(OSError):  # a terminal whose other end is closed
        while part := os.read(ours, 4096):
            seen += part
    assert build.wait() == 0
    bars = re.findall(rb"blocks: +(\d+)%\|", seen)
    assert len(set(bars)) > 2, "the bar moves while blocks run"
    assert b"blocks have run" not in seen
    (site.folder / "cache" / "blocks").rename(site.folder / "cache" / "put aside")
    said = site.build().stdout
    assert "25 of 30 blocks have run" in said and "30 of 30 blocks have run" in said
    assert "%|" not in said
