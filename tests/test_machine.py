"""What make cannot install is checked first, with the line that installs it."""

from __future__ import annotations

import shutil
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


def test_an_old_python_and_one_without_venv_are_refused(tmp_path: Path):
    old = tmp_path / "old-python"
    old.write_text('#!/bin/sh\ncase "$2" in *version_info*) exit 1;; *) exit 0;; esac\n')
    old.chmod(0o755)
    assert "Python 3.10 or newer" in machine(tmp_path / "a", "make", "c++", python=str(old)).stderr
    bare = tmp_path / "bare-python"
    bare.write_text('#!/bin/sh\ncase "$2" in *venv*) exit 1;; *) exit 0;; esac\n')
    bare.chmod(0o755)
    said = machine(tmp_path / "b", "make", "c++", python=str(bare)).stderr
    assert "Python's venv is missing" in said and "apt install python3-venv" in said
