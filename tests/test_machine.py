"""What make cannot install is checked first, with the line that installs it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT


def machine(folder: Path, *tools: str, python: str = sys.executable) -> subprocess.CompletedProcess:
    """Run the check on a machine that has only the given tools."""
    folder.mkdir(exist_ok=True)
    for tool in ("sh", *tools):
        (folder / tool).symlink_to(shutil.which(tool))
    command = [shutil.which("sh"), str(ROOT / "inside_torch" / "machine.sh"), python]
    return subprocess.run(command, env={"PATH": str(folder)}, capture_output=True, text=True)


def test_a_machine_with_everything_passes(tmp_path: Path):
    checked = machine(tmp_path / "bin", "make", "c++")
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        (("make",), ("a C++ compiler is missing", "apt install g++", "dnf install gcc-c++", "xcode-select --install")),
        (("c++",), ("make is missing", "apt install make")),
        ((), ("make is missing", "a C++ compiler is missing")),
    ],
)
def test_what_is_missing_is_said_with_the_line_that_installs_it(tmp_path: Path, tools, said):
    checked = machine(tmp_path / "bin", *tools)
    assert checked.returncode == 1
    for words in said:
        assert words in checked.stderr


def script(file: Path, text: str) -> str:
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return str(file)


def stand_in(file: Path, version: str, lacks: str = "nothing") -> str:
    """A Python that takes itself for another version and lacks a module."""
    begin = f"import sys; sys.version_info = ({version.replace('.', ', ')}); sys.modules['{lacks}'] = None; "
    return script(file, f'[ "$1" = -V ] && echo Python {version} || exec {sys.executable} -c "{begin} $2"')


@pytest.mark.parametrize("version", ["3.11.5", "3.12.0", "3.13.9"])
def test_the_pythons_of_the_book_pass(tmp_path: Path, version: str):
    checked = machine(tmp_path / "bin", "make", "c++", python=stand_in(tmp_path / "python", version))
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize("version", ["2.7.18", "3.10.14", "3.11.4", "3.14.0"])
def test_a_python_too_old_or_too_new_is_told_what_to_do(tmp_path: Path, version: str):
    python = stand_in(tmp_path / "python", version)
    checked = machine(tmp_path / "bin", "make", "c++", python=python)
    assert checked.returncode == 1
    assert f"A Python from 3.11.5 to 3.13 ('{python}' is Python {version};" in checked.stderr
    assert "make PYTHON=python3.13" in checked.stderr and "apt install python3.13-venv" in checked.stderr


def test_no_python_and_one_without_venv_are_told_what_to_do(tmp_path: Path):
    said = machine(tmp_path / "a", "make", "c++", python="python3").stderr
    assert "'python3' is not there" in said and "Python's venv" not in said
    bare = stand_in(tmp_path / "bare", "3.12.0", lacks="venv")
    said = machine(tmp_path / "b", "make", "c++", python=bare).stderr
    assert "Python's venv is missing" in said and "apt install python3-venv" in said


def make(*arguments: str, folder: Path = ROOT, **streams) -> subprocess.CompletedProcess:
    """`make` with this Python, whose packages are there."""
    command = ["make", "--old-file=.venv/ready", f"PY={sys.executable}", *arguments]
    outer = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return subprocess.run(command, cwd=folder, env=outer, text=True, **streams)


def test_a_path_with_a_space_is_said_before_the_build(tmp_path: Path):
    (tmp_path / "a book").mkdir()
    shutil.copy(ROOT / "Makefile", tmp_path / "a book")
    refused = make("serve", folder=tmp_path / "a book", capture_output=True)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f'the path "{tmp_path}/a book" has a space' in refused.stderr and "move the book" in refused.stderr


def test_a_taken_port_is_said_before_the_build(tmp_path: Path):
    builder = "PY=" + script(tmp_path / "python", f'[ "$1" = -m ] && echo "$@" || exec {sys.executable} "$@"')
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        refused = make("serve", builder, f"PORT={port}", capture_output=True)
    assert (refused.returncode, refused.stdout) == (2, ""), "the build did not begin"
    assert refused.stderr.startswith(f"port {port} is taken;") and "make serve PORT=8001" in refused.stderr
    served = make("serve", builder, f"PORT={port}", capture_output=True)
    assert served.stdout.endswith(f"\n-m mkdocs serve --livereload --dev-addr 127.0.0.1:{port}\n")


def test_the_verdict_on_an_exercise_is_the_last_word_and_a_script_gets_the_status(tmp_path: Path):
    wrong = "PY=" + script(tmp_path / "python", "echo wrong: 3 is not 4; exit 1")
    seen, terminal = os.openpty()
    assert make("check", wrong, stdout=terminal, stderr=terminal).returncode == 0
    os.close(terminal)
    assert os.read(seen, 1 << 16) == b"wrong: 3 is not 4\r\n"
    os.close(seen)
    assert make("check", wrong, capture_output=True).returncode == 2
