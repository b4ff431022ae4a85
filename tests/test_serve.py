"""`mkdocs serve`: a failure is shown on its page and in the terminal, and the next edit mends it."""

from __future__ import annotations

import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
from conftest import Site, fence, left_behind


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def served(site: Site):
    """A served site: its page as it stands, and the terminal's text so far."""
    address = f"127.0.0.1:{free_port()}"
    site.write(index="# P\n\n" + fence("print('first')"))
    terminal = (site.folder / "terminal.txt").open("w+")
    command = site.command("serve", "--livereload", "--dev-addr", address)
    server = subprocess.Popen(command, cwd=site.folder, env=site.environment, stderr=terminal, stdout=terminal)

    def page_with(text: str, seconds: float = 60) -> str:
        end = time.monotonic() + seconds
        while True:
            try:
                with urllib.request.urlopen(f"http://{address}/index.html", timeout=5) as reply:
                    page = reply.read().decode()
            except OSError:
                page = ""
            if text in page:
                return page
            assert time.monotonic() < end, (page[-3000:], (site.folder / "terminal.txt").read_text())
            time.sleep(0.05)

    yield page_with, lambda: (site.folder / "terminal.txt").read_text(), server.pid
    server.terminate()
    server.wait()
    assert not left_behind(str(site.folder))


def fork_servers(parent: int) -> list[str]:
    """The fork servers that the process `parent` has started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            started_by = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if started_by == parent and b"inside_torch.run.server" in (folder / "cmdline").read_bytes():
                found.append(folder.name)
        except OSError:
            continue
    return found


def test_serve_shows_failures_and_recovers(site: Site, served):
    page_with, terminal, pid = served
    page_with("<samp>first</samp>")
    before = fork_servers(pid)
    assert len(before) == 1
    site.write(index="# P\n\n" + fence("print('half')\n1 / 0"))
    broken = page_with("it-failure")
    assert "ZeroDivisionError" in broken
    assert "half" in broken
    assert "docs/index.md:3: it ended with status 1" in broken and "line 5, in &lt;module&gt;" in broken
    assert "docs/index.md:3: it ended with status 1: ZeroDivisionError" in terminal()
    site.write(index="# P\n\n" + fence("print('odd')", "Python"))
    assert "docs/index.md:3: a fence named `Python`" in page_with("has no meaning")
    site.write(index="# P\n\n" + fence("print('mended')"))
    assert "it-failure" not in page_with("<samp>mended</samp>")
    site.write(index="# P\n\nIt is simply so.\n")
    advised = page_with("docs/index.md:3: says `simply`\n  voice: ")
    assert "it-advice" in advised and "it-failure" not in advised and "simply" not in terminal()
    assert fork_servers(pid) == before, "one fork server serves every rebuild"
