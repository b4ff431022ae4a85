"""The edition: which torch, which Python and which settings print the book. torch is never imported here."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import runpy
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Every variable of the environment that the book itself reads.
VARIABLES = {
    "CI": "`true` where a test must not skip what the machine lacks",
    "INSIDE_TORCH_CACHE": "the folder of everything that is remembered between builds",
    "INSIDE_TORCH_DEADLINE": "seconds that a block, or the check of an exercise, may take",
    "INSIDE_TORCH_FRESH": "`all`: every block is tried in an interpreter of its own, as once a week",
    "INSIDE_TORCH_SERVING": "set by the build itself while it serves: what fails is shown on its page",
    "REPO_URL": "where the book's repository lies: links to edit, report and cite a page",
    "SITE_URL": "where the book is published",
    "SOURCE_DATE_EPOCH": "the time that the built files carry",
    "TORCHINDUCTOR_CACHE_DIR": "what torch.compile has compiled",
    "TORCH_EXTENSIONS_DIR": "C++ extensions that blocks have compiled",
}


def site_url() -> str:
    """The address of the site, with a slash at its end; empty where it is not known."""
    return os.environ.get("SITE_URL", "").rstrip("/") + "/" * bool(os.environ.get("SITE_URL"))


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
# What a block sees of the environment besides.
PASSED_ON = ("PATH", "HOME", "CC", "CXX", "LD_LIBRARY_PATH", "SYSTEMROOT")
# What an interpreter says of itself: the folder of the torch it would import, and its version.
ASK = """\
import importlib.util, json, platform, sys
spec = importlib.util.find_spec("torch")
name = f"{platform.python_implementation()} {platform.python_version()}"
print(json.dumps([spec.origin if spec else None, sys.version, name]))
"""


@functools.cache
def asked(python: str) -> tuple[Path, str, str]:
    """The folder of torch, `sys.version` and the name of an interpreter. Raises RuntimeError where torch is missing."""
    if python == sys.executable:
        spec = importlib.util.find_spec("torch")
        name = f"{platform.python_implementation()} {platform.python_version()}"
        said = [spec.origin if spec else None, sys.version, name]
    else:
        said = json.loads(subprocess.run([python, "-c", ASK], capture_output=True, text=True, check=True).stdout)
    if not said[0]:
        raise RuntimeError(f"torch is not installed in {python}")
    return Path(said[0]).parent, said[1], said[2]


@dataclass(frozen=True)
class Edition:
    """An interpreter, the torch it imports, and the folder of what is remembered of both."""

    python: str = sys.executable
    cache: Path = field(default_factory=lambda: Path(os.environ.get("INSIDE_TORCH_CACHE", ROOT / ".cache")).resolve())

    @functools.cached_property
    def torch(self) -> Path:
        """The folder of the package torch. Raises RuntimeError when it is not installed."""
        return asked(self.python)[0]

    @functools.cached_property
    def python_name(self) -> str:
        """The interpreter as `CPython 3.11.7`."""
        return asked(self.python)[2]

    @property
    def packages(self) -> Path:
        """The folder that has torch/, torchgen/ and what pip knows of them."""
        return self.torch.parent

    @functools.cached_property
    def _version_file(self) -> dict:
        return runpy.run_path(str(self.torch / "version.py"))

    @property
    def version(self) -> str:
        """`torch.__version__`, as 2.13.0+cpu."""
        return str(self._version_file["__version__"])

    @property
    def release(self) -> str:
        """The version as pip and readers know it, as 2.13.0."""
        return self.version.partition("+")[0]

    @property
    def commit(self) -> str:
        """The commit of PyTorch that torch was built from. Source: torch/version.py."""
        return self._version_file["git_version"]

    @functools.cached_property
    def record(self) -> str:
        """The RECORD of the installed wheel, which lists its files; empty for a torch that pip did not install.

        The name of its folder says 2.13.0 where torch says 2.13.0+cu130: it is looked up, not made.
        """
        found = importlib.metadata.distributions(name="torch", path=[str(self.packages)])
        return next((text for one in found if (text := one.read_text("RECORD"))), "")

    @property
    def environment(self) -> dict[str, str]:
        """The whole environment of a block: what is passed on, what is pinned, and the compilers' caches."""
        passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        caches = {"TORCHINDUCTOR_CACHE_DIR": os.environ.get("TORCHINDUCTOR_CACHE_DIR", str(self.cache / "inductor"))}
        return passed_on | caches | PINNED

    @property
    def extensions(self) -> Path:
        """Where compiled extensions are kept, in one folder a block, named by all that can change them."""
        return Path(os.environ.get("TORCH_EXTENSIONS_DIR", self.cache / "extensions"))

    @functools.cached_property
    def fingerprint(self) -> str:
        """A digest of everything outside the book that can change what a block prints."""
        parts = [
            self.version,
            self.commit,
            asked(self.python)[1],
            str(self.packages) if self.python != sys.executable else "",
            platform.platform(),
            processor_flags(),
            compiler(),
            repr(sorted(PINNED.items())),
            repr(sorted(path.name for path in self.packages.glob("*.dist-info"))),
        ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


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


def book_commit(root: Path = ROOT) -> tuple[str, datetime] | None:
    """The commit of the book and its date in UTC, or None outside a git checkout."""
    command = ["git", "-C", str(root), "log", "-1", "--format=%H %ct"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return None
    return (found[0], datetime.fromtimestamp(int(found[1]), UTC)) if found else None
