"""What only a running torch knows: where a kernel was registered, which line raised an error.

Programs tell it that run outside this process, pinned and remembered as blocks are.
"""

import json
import re

from inside_torch.citations.checks import CHECKS
from inside_torch.citations.proof import Citation, UnprovenError, one_of
from inside_torch.citations.wheel import Wheel

# What stands before the repository's own path in a path of the machine that built torch.
ROOT = re.compile(r"^/.*?/(?=(?:build/)?(?:aten|c10|caffe2|functorch|torch|torchgen)/)")
RECORD = re.compile(r"^(\w+): (.*registered at) (\S.*):(\d+) (\[[\w ]+\])$", re.M)
RAISED = re.compile(r"^Exception raised from (.+) at (\S.*):(\d+)$", re.M)
TABLE = "import torch\n\nprint(torch._C._dispatch_dump_table({!r}))\n"

# torch reads the two variables once, when it is imported: the checks need an interpreter of their own.
RAISE = """\
import json, warnings
import torch
warnings.simplefilter("ignore")
raised = {}
for name, source in %r.items():
    w = torch.ones(2, requires_grad=True)
    try:
        exec(source, {"torch": torch, "w": w, "y": w.exp()})
    except Exception as error:
        raised[name] = str(error).partition(" (most recent call first)")[0]
print(json.dumps(raised))
"""
LOUD = """\
import os, subprocess, sys

loud = {"TORCH_SHOW_CPP_STACKTRACES": "1", "TORCH_DISABLE_ADDR2LINE": "1"}
subprocess.run([sys.executable, "-c", %r], env=os.environ | loud, check=True)
"""


def programs(reference: str) -> list[str]:
    """The program that a reference needs; none for most."""
    path, _, symbol = reference.partition("#")
    if path == "kernel":
        return [TABLE.format(symbol.partition("@")[0])]
    return [LOUD % (RAISE % CHECKS)] if path == "check" else []


def place(wheel: Wheel, path: str) -> tuple[str, bool]:
    """A path of the machine that built torch, or of this one, as it is upstream, and whether it was generated."""
    path = ROOT.sub("", path.removeprefix(f"{wheel.edition.packages}/"))
    return path, path.startswith("build/") or "/generated/" in path


def kernel(wheel: Wheel, symbol: str) -> Citation:
    """Where the kernel that `operator@Key` runs was registered, as the dispatcher remembers it. A kernel in generated
    code is cited by its operator's entry in native_functions.yaml."""
    operator, _, key = symbol.partition("@")
    if not re.fullmatch(r"\w+::[\w.]+", operator) or not key:
        raise UnprovenError("a kernel is cited as src:kernel#aten::add.Tensor@AutogradCPU")
    rows = RECORD.findall(wheel.output(*programs(f"kernel#{symbol}")))
    if not rows:
        raise UnprovenError(f"the dispatcher has no operator {operator}")
    at = one_of([(row[0], n) for n, row in enumerate(rows)], key, f"the table of {operator}")
    _, how, file, line, kind = rows[at]
    path, generated = place(wheel, file)
    text = f"{key}: {how} {path}:{line} {kind}"
    if not generated:
        return wheel.at_upstream_line("kernel", path, int(line), text)
    entry = wheel.entry("native_functions.yaml", operator.removeprefix("aten::"))
    return Citation("generated kernel", entry.path, entry.line, text)


def check(wheel: Wheel, name: str) -> Citation:
    """The line that raised the error of the program called `name` in checks.py, as the error itself says."""
    one_of([(one, 0) for one in CHECKS], name, "checks.py")
    message = json.loads(wheel.output(*programs("check#"))).get(name)
    if message is None:
        raise UnprovenError(f"the program {name} in checks.py raises nothing")
    first, raised = message.partition("\n")[0], RAISED.search(message)
    path, generated = place(wheel, raised[2]) if raised else ("", True)
    if generated:
        raise UnprovenError(f"the error of {name} in checks.py names no line of C++: {path or first}")
    return wheel.at_upstream_line("check", path, int(raised[3]), f"{raised[1]}: {first}")
