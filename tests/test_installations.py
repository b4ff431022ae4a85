"""The book builds with each kind of torch that a reader may have; what the machine says of itself fails no block."""

from __future__ import annotations

import shutil
import subprocess
import venv
from pathlib import Path

import pytest
from conftest import Site, fence

from inside_torch.edition import Edition

CALL = "import torch\n\nprint(torch.broadcast_tensors(torch.ones(1), torch.ones(2))[0])"
PAGE = f"# P\n\n[call](src:torch/nn/modules/module.py#Module._call_impl)\n\n{fence(CALL)}"
TOOLKIT = """
    import sys
    sys.stderr.write(
        "No CUDA runtime is found, using CUDA_HOME='/usr/local'\\n"
        "W1122 04:36:08.080000 170 torch/utils/cpp_extension.py:178] No CUDA runtime is found, using CUDA_HOME='/x'\\n"
        "ERROR:2026-11-22 04:36:36 17030:17030 DeviceProperties.cpp:50] gpuGetDeviceCount failed with code 35\\n"
    )
"""
PYTHON_3_13_0 = """
    import warnings
    warnings.warn("Guards may run slower on Python 3.13.0. Consider upgrading to Python 3.13.1+.", RuntimeWarning)
"""
OLD = "    warnings.warn('this is old', DeprecationWarning)\n"


class Installation:
    """An environment with every package of this one, but with a torch that a test may change."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=False, symlinks=True)
        self.python = folder / "bin" / "python"
        (self.packages,) = folder.glob("lib/python*/site-packages")
        real = Edition().packages
        (self.packages / "rest.pth").write_text(f"{real}\n")
        (self.packages / "torchgen").symlink_to(real / "torchgen")
        (self.packages / "torch").mkdir()
        for path in (real / "torch").iterdir():
            (self.packages / "torch" / path.name).symlink_to(path)
        (metadata,) = real.glob("torch-*.dist-info")
        self.metadata = shutil.copytree(metadata, self.packages / "torch-2.13.0.dist-info")

    def change(self, name: str, before: str, after: str) -> None:
        file = self.packages / name
        text = file.read_text()
        assert text.count(before) == 1
        file.unlink()
        file.write_text(text.replace(before, after))

    def says(self, notice: str) -> None:
        """Let a call of torch.broadcast_tensors run `notice`."""
        self.change("torch/functional.py", call := "def broadcast_tensors(*tensors):\n", call + notice)

    def build(self, site: Site) -> subprocess.CompletedProcess:
        site.write(index=PAGE)
        site.command = lambda *arguments: [str(self.python), "-m", "mkdocs", *arguments]
        return site.build()


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path / "installation")


def test_the_wheel_of_the_package_index(site: Site, installation: Installation):
    version = Edition().version
    installation.change("torch/version.py", f"'{version}'", "'2.13.0+cu130'")
    built = installation.build(site)
    assert built.returncode == 0, built.stdout
    assert "torch 2.13.0+cu130 (" in site.html() and "module.py#L1782" in site.html()


@pytest.mark.parametrize("notice", [TOOLKIT, PYTHON_3_13_0], ids=["a CUDA toolkit without a GPU", "Python 3.13.0"])
def test_a_notice_of_the_machine(site: Site, installation: Installation, notice: str):
    installation.says(notice)
    built = installation.build(site)
    assert built.returncode == 0, built.stdout


def test_a_notice_of_the_machine_hides_no_warning(site: Site, installation: Installation):
    installation.says(TOOLKIT + PYTHON_3_13_0 + OLD)
    built = installation.build(site)
    assert built.returncode and "DeprecationWarning: this is old" in built.stdout
    for notice in ("No CUDA runtime", "gpuGetDeviceCount", "Guards may run slower"):
        assert notice not in built.stdout


def test_a_torch_that_came_without_a_record(site: Site, installation: Installation):
    (installation.metadata / "RECORD").unlink()
    built = installation.build(site)
    assert built.returncode and "Traceback" not in built.stdout
    assert "docs/index.md:3: " in built.stdout
    assert "no RECORD says which files it brought" in built.stdout
