"""The edition: which torch, which Python and which settings printed the book, without importing torch."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import platform
import re
import runpy
import shutil
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("INSIDE_TORCH_CACHE", ROOT / ".cache")).resolve()

# The interpreter that runs the blocks, and whose torch is the one the book is about.
PYTHON = os.environ.get("INSIDE_TORCH_PYTHON", sys.executable)

# Settings that change what a block prints, each fixed for every block.
PINNED = {
    "ATEN_CPU_CAPABILITY": "avx2",  # kernels differ in their last digits between vector widths
    "COLUMNS": "76",  # tables and help texts wrap at the terminal's width
    "KINETO_LOG_LEVEL": "99",  # each profile writes a line with the date to stderr
    "LC_ALL": "C.UTF-8",  # messages of the C library and the compiler
    "MKL_CBWR": "AVX2",  # matrix products take the same path on every machine
    "NO_COLOR": "1",  # a page is no terminal
    "OMP_NUM_THREADS": "1",  # sums depend on the number of threads
    "ONEDNN_MAX_CPU_ISA": "AVX2",  # as for MKL
    "PYTHONHASHSEED": "0",  # the order of sets
    "PYTHONUTF8": "1",
    "TORCHINDUCTOR_COMPILE_THREADS": "1",  # no pool of compilers to start and stop
    "TORCH_LOGS_FORMAT": "%(message)s",  # no time, process or line before a message
    "TZ": "UTC",
}
# The code that runs a block and decides what of its output is shown.
JUDGES = ("blocks", "child", "edition", "normal", "pictures", "quiz", "runner", "server")
# What a block sees of the environment besides.
PASSED_ON = ("PATH", "HOME", "CC", "CXX", "LD_LIBRARY_PATH", "SYSTEMROOT")


def block_environment() -> dict[str, str]:
    """The whole environment of a block: what is passed on, what is pinned, and the compilers' caches."""
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    caches = {"TORCHINDUCTOR_CACHE_DIR": os.environ.get("TORCHINDUCTOR_CACHE_DIR", str(CACHE / "inductor"))}
    return passed_on | caches | PINNED


def extensions() -> Path:
    """Where compiled extensions are kept, in one folder a block, named by all that can change them."""
    return Path(os.environ.get("TORCH_EXTENSIONS_DIR", CACHE / "extensions"))


@functools.cache
def torch_folder() -> Path:
    """The folder of the package torch that PYTHON would import, found without importing it.

    Raises RuntimeError when torch is not installed there.
    """
    if sys.executable == PYTHON:
        spec = importlib.util.find_spec("torch")
        origin = spec.origin if spec else None
    else:
        asked = "import importlib.util; print(importlib.util.find_spec('torch').origin)"
        origin = subprocess.run([PYTHON, "-c", asked], capture_output=True, text=True).stdout.strip()
    if not origin:
        raise RuntimeError(f"torch is not installed in {PYTHON}")
    return Path(origin).parent


@functools.cache
def torch_version() -> tuple[str, str]:
    """The version and the git commit of the installed torch. Source: torch/version.py."""
    version = runpy.run_path(str(torch_folder() / "version.py"))
    return str(version["__version__"]), version["git_version"]


def book_commit(root: Path = ROOT) -> tuple[str, datetime] | None:
    """The commit of the book and its date in UTC, or None outside a git checkout."""
    command = ["git", "-C", str(root), "log", "-1", "--format=%H %ct"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return None
    return (found[0], datetime.fromtimestamp(int(found[1]), timezone.utc)) if found else None


def processor_flags() -> str:
    """The processor's instruction sets, as Linux lists them; empty elsewhere."""
    try:
        found = re.search(r"^(?:flags|Features)\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        return ""
    return " ".join(sorted(found[1].split())) if found else ""


def compiler() -> str:
    """The C++ compiler a block would find, with size and time of its file."""
    found = shutil.which(os.environ.get("CXX", "c++"))
    if found is None:
        return "no compiler"
    stat = os.stat(found)
    return f"{os.path.realpath(found)} {stat.st_size} {stat.st_mtime_ns}"


def hash_of_files(paths: list[Path]) -> str:
    """One digest of the named files' contents."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def fingerprint() -> str:
    """A digest of everything outside a block's source that can change what it prints."""
    packages = torch_folder().parent
    here = Path(__file__).parent
    parts = [
        *torch_version(),
        sys.version,
        str(packages) if sys.executable != PYTHON else "",
        platform.platform(),
        processor_flags(),
        compiler(),
        repr(sorted(PINNED.items())),
        repr(sorted(path.name for path in packages.glob("*.dist-info"))),
        hash_of_files([here / f"{name}.py" for name in JUDGES]),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def drawing_code() -> str:
    """A digest of the code that draws figures."""
    return hash_of_files(list((Path(__file__).parent / "figures").rglob("*.py")))
