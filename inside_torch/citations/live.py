"""What only a running torch knows: where a kernel was registered, which line raised an error.

Each runs as a block, so that it is cached, pinned and kept out of this process.
"""

from __future__ import annotations

import json
import re

from inside_torch import render
from inside_torch.citations import entries
from inside_torch.citations.checks import CHECKS
from inside_torch.citations.proof import Citation, UnprovenError, only
from inside_torch.citations.wheel import at_upstream_line, folder

INFO = "citation"
# What stands before the repository's own path in a path of the machine that built torch.
ROOT = re.compile(r".*?/(?=(?:build/)?(?:aten|c10|caffe2|functorch|torch|torchgen)/)")
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
    try:
        exec(source, {"torch": torch})
    except Exception as error:
        raised[name] = str(error).partition(" (most recent call first)")[0]
print(json.dumps(raised))
"""
LOUD = """\
import os, subprocess, sys

loud = {"TORCH_SHOW_CPP_STACKTRACES": "1", "TORCH_DISABLE_ADDR2LINE": "1"}
subprocess.run([sys.executable, "-c", %r], env=os.environ | loud, check=True)
"""


def programs(reference: str) -> list[tuple[str, str]]:
    """The block, as (info, source), that a reference needs; none for most."""
    path, _, symbol = reference.partition("#")
    if path == "kernel":
        return [(INFO, TABLE.format(symbol.partition("@")[0]))]
    return [(INFO, LOUD % (RAISE % CHECKS))] if path == "check" else []


def output(info: str, source: str) -> str:
    """What a block printed. Raises UnprovenError when it failed."""
    result = render.blocks().result(info, source)
    if result.failed:
        raise UnprovenError(f"the program that would prove it failed: {result.failure}")
    return result.output


def repository_path(path: str) -> str:
    """A path of the machine that built torch, or of this one, as the repository has it."""
    return ROOT.sub("", path.removeprefix(f"{folder()}/"), count=1) if path.startswith("/") else path


def is_generated(path: str) -> bool:
    return path.startswith("build/") or "/generated/" in path


def kernel(symbol: str) -> Citation:
    """Where the kernel that `operator@Key` runs was registered, as the dispatcher remembers it.

    A kernel in generated code is cited by its operator's entry in native_functions.yaml.
    """
    operator, _, key = symbol.partition("@")
    if not re.fullmatch(r"\w+::[\w.]+", operator) or not key:
        raise UnprovenError("a kernel is cited as src:kernel#aten::add.Tensor@AutogradCPU")
    rows = RECORD.findall(output(*programs(f"kernel#{symbol}")[0]))
    if not rows:
        raise UnprovenError(f"the dispatcher has no operator {operator}")
    keys = [row[0] for row in rows]
    at = only([(one, n) for n, one in enumerate(keys) if one == key], key, f"the table of {operator}", keys)
    _, how, file, line, kind = rows[at]
    path = repository_path(file)
    text = f"{key}: {how} {path}:{line} {kind}"
    if not is_generated(path):
        return at_upstream_line("kernel", path, int(line), text)
    entry = entries.entry("native_functions.yaml", operator.removeprefix("aten::"))
    return Citation("generated kernel", entry.path, entry.line, text)


def check(name: str) -> Citation:
    """The line that raised the error of the program called `name` in checks.py, as the error itself says."""
    only([(one, 0) for one in CHECKS if one == name], name, "checks.py", CHECKS)
    message = json.loads(output(*programs("check#")[0])).get(name)
    if message is None:
        raise UnprovenError(f"the program {name} in checks.py raises nothing")
    raised = RAISED.search(message)
    if not raised:
        raise UnprovenError(f"the error of {name} in checks.py names no line of C++: {message.splitlines()[0]}")
    function, file, line = raised.groups()
    path = repository_path(file)
    if is_generated(path):
        raise UnprovenError(f"the error of {name} was raised in generated code, {path}:{line}")
    return at_upstream_line("check", path, int(line), f"{function}: {message.splitlines()[0]}")
