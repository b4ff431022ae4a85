"""The C++ that torch's build generates for autograd, made again from the wheel."""

import contextlib
import re
import subprocess
import tempfile
import threading
from pathlib import Path

from inside_torch.citations import cpp
from inside_torch.citations.proof import Citation, UnprovenError
from inside_torch.citations.wheel import Wheel
from inside_torch.run.cache import Cache

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
# What packaging puts around a header, and the line that names its template by the way to it.
AROUND = re.compile(r"\A#if .*\n|^// @generated from .*$|^#else\n#error.*\n#endif.*\s*\Z", re.M)


def generate(wheel: Wheel, target: Path) -> None:
    """Run the wheel's own generator; about four seconds."""
    packaged = wheel.edition.packages / "torchgen" / "packaged"
    native = packaged / "ATen" / "native"
    inputs = native / "native_functions.yaml", native / "tags.yaml", target, packaged / "autograd"
    command = [wheel.edition.python, "-m", "torchgen.packaged.autograd.gen_autograd", *inputs]
    target.mkdir()
    done = subprocess.run(command, cwd=target, capture_output=True, text=True)
    if done.returncode:
        raise UnprovenError(f"torch's generator failed: {done.stderr.strip().splitlines()[-1:]}")


def prove(wheel: Wheel, made: Path) -> None:
    """Hold what was generated against what was compiled. Raises UnprovenError. Every header that ships must be the
    same text, and wherever the dispatcher says that a kernel was registered there must be a registration."""
    for header in made.glob("*.h"):
        shipped, text = wheel.text(f"{SHIPPED}/{header.name}"), header.read_text(encoding="utf-8")
        if AROUND.sub("", shipped).strip() != AROUND.sub("", text).strip():
            raise UnprovenError(f"regenerated, {header.name} is not the one that ships")
    for name, number in map(str.split, wheel.output(REGISTERED).splitlines()):
        lines = (made / name).read_text(encoding="utf-8").split("\n")
        if not "".join(lines[int(number) - 1 : int(number)]).startswith("TORCH_LIBRARY"):
            raise UnprovenError(f"regenerated, {name} registers nothing in line {number}")


def regenerated(wheel: Wheel) -> Path:
    """The folder of generated files, made and proven once an edition."""
    cache = Cache(wheel.edition, "generated", "citations/generated.py")
    folder = cache.folder / cache.key()[:16]
    with ONE_AT_A_TIME:
        if not folder.exists():
            cache.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cache.folder) as beside:
                made = Path(beside, "made")
                generate(wheel, made)
                prove(wheel, made)
                with contextlib.suppress(OSError):  # another build was first
                    made.rename(folder)
    return folder


def line(wheel: Wheel, name: str, symbol: str) -> Citation:
    """A line of generated code, cited by the template it was made from: the file itself is nowhere upstream."""
    made = regenerated(wheel)
    files = sorted(path.name for path in made.glob("*.*"))
    if name not in files:
        raise UnprovenError(f"torch's generator makes no {name}, but {', '.join(files)}")
    text = (made / name).read_text(encoding="utf-8")
    number = cpp.find(text, symbol, name)
    shown = f"{name}:{number}: {text.splitlines()[number - 1].strip()}"
    return Citation("generated", wheel.template(text), None, shown)
