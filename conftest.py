"""For tests and README fences alike: a program that ends with status 77 says what this machine lacks to run it."""

from __future__ import annotations

import os
import re
import subprocess
from unittest import mock

import pytest

from inside_torch.edition import ROOT, Edition
from inside_torch.run.needs import needs
from inside_torch.run.normal import without_notices

LACKING = 77  # as automake and meson have it
DEVICE = "skipped: no CUDA device"  # CI lacks it, too, so a program that says so is skipped there as anywhere
FENCES = {
    # Not counted is what torch itself does when it imports its compiler.
    "PYTHONWARNINGS": "default::DeprecationWarning,default::FutureWarning,"
    "ignore:`torch.jit.script_method` is deprecated:DeprecationWarning",
    "TORCH_EXTENSIONS_DIR": str(Edition().extensions),  # what the tests compiled, the fences need not
}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item):
    """Reports such a program as skipped, with what it printed; but in CI, where only a GPU may lack, as failed."""
    fence = type(item).__module__ == "pytest_codeblocks.plugin"
    try:
        return (yield from (quiet_fence() if fence else plainly()))
    except subprocess.CalledProcessError as error:
        if error.returncode == LACKING:
            said = as_text(error.stdout).strip()
            fails = os.environ.get("CI") == "true" and not said.startswith(DEVICE)
            (pytest.fail if fails else pytest.skip)(said)
        if fence:  # the plugin would report the status alone
            pytest.fail(f"{error}\n{as_text(error.stdout)}{as_text(error.stderr)}")
        raise


def as_text(output: str | bytes) -> str:
    return output if isinstance(output, str) else output.decode()


def plainly():
    return (yield)


def deadline(command: str) -> int:
    """The seconds a fence may take. What compiles C++ took 10 s where two cores were free, and 60 s where they were
    not."""
    files = [ROOT / name for name in re.findall(r"examples/\w+\.py", command)]
    compiles = any(needs(file.read_text(encoding="utf-8")).compiler for file in files)
    return 300 if compiles else int(os.environ.get("INSIDE_TORCH_DEADLINE", "60"))


def quiet_fence():
    """Runs the program of a fence, which fails when it warns of what is deprecated or writes anything to stderr."""
    ran = []

    def run(command: str, run=subprocess.run, **options) -> subprocess.CompletedProcess:
        try:
            ran.append(run(command, timeout=deadline(command), **options))
        except subprocess.TimeoutExpired as late:
            for lock in Edition().extensions.glob("*/lock"):
                lock.unlink()  # a killed build leaves it, and the next would wait for it
            pytest.fail(str(late))
        return ran[-1]

    with mock.patch.dict(os.environ, FENCES), mock.patch.object(subprocess, "run", run):
        result = yield
    for one in ran:
        stderr = without_notices(as_text(one.stderr))
        assert not stderr, f"it wrote to stderr: {stderr}"
    return result
