"""The C++ that torch's build generates for autograd, made again from the wheel."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

from inside_torch import edition
from inside_torch.cache import digest
from inside_torch.citations import cpp, live, wheel
from inside_torch.citations.proof import Citation, UnprovenError

SHIPPED = "torch/include/torch/csrc/autograd/generated"
ONE_AT_A_TIME = threading.Lock()
# The lines of generated files at which the running torch says kernels were registered.
REGISTERED = """\
import re

import torch

seen = set()
for name in torch._C._dispatch_get_all_op_names():
    dump = torch._C._dispatch_dump(name)
    seen |= set(re.findall(r"autograd/generated/(\\w+\\.cpp):(\\d+)", dump))
for file, line in sorted(seen):
    print(file, line)
"""


def generate(target: Path) -> None:
    """Run the wheel's own generator; about four seconds."""
    packaged = wheel.folder() / "torchgen" / "packaged"
    native = packaged / "ATen" / "native"
    inputs = native / "native_functions.yaml", native / "tags.yaml", target, packaged / "autograd"
    command = [edition.PYTHON, "-m", "torchgen.packaged.autograd.gen_autograd", *map(str, inputs)]
    done = subprocess.run(command, cwd=target, capture_output=True, text=True)
    if done.returncode:
        raise UnprovenError(f"torch's generator failed: {done.stderr.strip().splitlines()[-1:]}")


def unmarked(text: str) -> str:
    """A generated file without the one line that names its template, which differs by the way to it."""
    return re.sub(r"^// @generated from .*$", "", text, flags=re.M)


def prove(made: Path) -> None:
    """Hold what was generated against what was compiled. Raises UnprovenError.

    Every header that ships must be the same text, and wherever the dispatcher says that a kernel was
    registered there must be a registration.
    """
    for header in made.glob("*.h"):
        shipped = wheel.text(f"{SHIPPED}/{header.name}").split("\n")
        text = header.read_text(encoding="utf-8")
        if unmarked("\n".join(shipped[1:])).partition("\n#else\n#error")[0].strip() != unmarked(text).strip():
            raise UnprovenError(f"regenerated, {header.name} is not the one that ships")
    for name, number in map(str.split, live.output(live.INFO, REGISTERED).splitlines()):
        lines = (made / name).read_text(encoding="utf-8").split("\n")
        if not "".join(lines[int(number) - 1 : int(number)]).startswith("TORCH_LIBRARY"):
            raise UnprovenError(f"regenerated, {name} registers nothing in line {number}")


def regenerated() -> Path:
    """The folder of generated files, made and proven once an edition."""
    folder = (
        edition.CACHE / "generated" / digest(*edition.torch_version(), edition.hash_of_files([Path(__file__)]))[:16]
    )
    with ONE_AT_A_TIME:
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            beside = Path(tempfile.mkdtemp(dir=folder.parent))
            try:
                generate(beside)
                prove(beside)
                with contextlib.suppress(OSError):  # another build was first
                    os.replace(beside, folder)
            finally:
                shutil.rmtree(beside, ignore_errors=True)
    return folder


def begin() -> None:
    """Start on it in the background; whoever needs it waits, and sees its failure."""

    def run() -> None:
        with contextlib.suppress(UnprovenError):
            regenerated()

    threading.Thread(target=run, daemon=True).start()


def line(name: str, symbol: str) -> Citation:
    """A line of generated code, cited by the template it was made from: the file itself is nowhere upstream."""
    folder = regenerated()
    files = sorted(path.name for path in folder.glob("*.*"))
    if name not in files:
        raise UnprovenError(f"torch's generator makes no {name}, but {', '.join(files)}")
    if not symbol:
        raise UnprovenError(f"generated code is cited by symbol, as src:generated/{name}#add_Tensor")
    text = (folder / name).read_text(encoding="utf-8")
    number = cpp.find(text, symbol, name)
    return Citation(
        "generated", wheel.template(text), None, f"{name}:{number}: {text.splitlines()[number - 1].strip()}"
    )
