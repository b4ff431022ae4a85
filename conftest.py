"""For tests and README fences alike: a program that ends with status 77 says what this machine lacks to run it."""

from __future__ import annotations

import os
import subprocess

import pytest

from inside_torch import edition

LACKING = 77  # as automake and meson have it


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("codeblocks", False):  # what the tests compiled, the fences need not
        os.environ.setdefault("TORCH_EXTENSIONS_DIR", str(edition.extensions()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item):
    """Reports such a program as skipped, with what it printed; but in CI, where nothing may lack, as failed."""
    try:
        return (yield)
    except subprocess.CalledProcessError as error:
        if error.returncode != LACKING:
            raise
        said = error.stdout if isinstance(error.stdout, str) else error.stdout.decode()
    (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(said.strip())
