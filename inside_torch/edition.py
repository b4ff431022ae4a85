"""The edition: which torch, which Python and which settings print the book. torch is never imported here."""

import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


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
# What an interpreter says of the torch it would import, and of itself.
ASK = """\
import importlib.util, json, os, platform, runpy, sys
if spec := importlib.util.find_spec("torch"):
    folder = os.path.dirname(spec.origin)
    made = runpy.run_path(os.path.join(folder, "version.py"))
    name = f"{platform.python_implementation()} {platform.python_version()}"
    print(json.dumps([folder, str(made["__version__"]), made["git_version"], sys.version, name]))
"""


class Told(NamedTuple):
    """The folder of torch, its version and commit, `sys.version`, and the interpreter's name."""

    torch: str
    version: str
    commit: str
    python: str
    name: str


@functools.cache
def asked(python: str) -> Told:
    """What an interpreter tells. Raises RuntimeError where torch is missing."""
    said = subprocess.run([python, "-c", ASK], capture_output=True, text=True, check=True).stdout
    if not said:
        raise RuntimeError(f"torch is not installed in {python}")
    return Told(*json.loads(said))


@dataclass(frozen=True)
class Edition:
    """An interpreter, the torch it imports, and the folder of what is remembered of both."""

    python: str = sys.executable
    cache: Path = field(default_factory=lambda: Path(os.environ.get("INSIDE_TORCH_CACHE", ROOT / ".cache")).resolve())

    @property
    def torch(self) -> Path:
        """The folder of the package torch. Raises RuntimeError when it is not installed."""
        return Path(asked(self.python).torch)

    @property
    def python_name(self) -> str:
        """The interpreter as `CPython 3.11.7`."""
        return asked(self.python).name

    @property
    def packages(self) -> Path:
        """The folder that has torch/, torchgen/ and what pip knows of them."""
        return self.torch.parent

    @property
    def version(self) -> str:
        """`torch.__version__`, as 2.13.0+cpu."""
        return asked(self.python).version

    @property
    def release(self) -> str:
        """The version as pip and readers know it, as 2.13.0."""
        return self.version.partition("+")[0]

    @property
    def commit(self) -> str:
        """The commit of PyTorch that torch was built from. Source: torch/version.py."""
        return asked(self.python).commit

    @functools.cached_property
    def record(self) -> str:
        """The RECORD of the installed wheel, which lists its files; empty for a torch that pip did not install. The
        name of its folder says 2.13.0 where torch says 2.13.0+cu130: it is looked up, not made."""
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
            asked(self.python).python,
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
