"""What a program needs besides torch: the one place that judges it by its source."""

import os
import re
from dataclasses import dataclass

DEADLINE = float(os.environ.get("INSIDE_TORCH_DEADLINE", "120"))  # seconds a block may run
# It calls a C++ compiler.
COMPILER = re.compile(r"\b(?:cpp_extension|load_inline)\b")
# It compiles with torch, or builds an optimizer, which imports the same.
DYNAMO = re.compile(r"torch\.(?:compile|export|_dynamo|_inductor|optim|compiler|_functorch|fx)\b|\bkernel_lines\b")
# What outlives it in its process: settings, registrations, caches and counters of all of torch, or of Python.
PROCESS_WIDE = re.compile(
    r"torch\.(?:set_\w+|compile|export|compiler|library|_dynamo|_inductor|_functorch|_logging)\b"
    r"|\bset_\w+_(?:enabled|dtype|device)\b|\bregister_(?:module|optimizer)_\w+|\bcpp_extension\b"
    r"|\b(?:logging|warnings|gc|weakref|profiler|profile|distributed)\b|\bsys\.\w+|\bdis\b"
    r"|\bbackend_registration\b|\brename_privateuse1_backend\b"
)

# It registers, for the life of its process, what a second program could not register again.
REGISTERS = re.compile(r"\b(?:torch\.library|custom_op|rename_privateuse1_backend)\b")

# It asks Python's collector, which then has to see all objects, those of the imported modules, too.
COLLECTS = re.compile(r"\bgc\b")


@dataclass(frozen=True)
class Needs:
    """`compiler`: a C++ compiler; `dynamo`: torch's compilers, seconds to import; `alone`: a process of its own, in a
    notebook whose cells share one; `unregistered`: a process in which no other program registers what it does;
    `collects`: a collector that sees every object; `seconds`: how long it may run."""

    compiler: bool
    dynamo: bool
    alone: bool
    unregistered: bool
    collects: bool
    seconds: float


def needs(source: str) -> Needs:
    """What the program `source` needs."""
    patterns = (COMPILER, DYNAMO, PROCESS_WIDE, COLLECTS)
    compiler, dynamo, alone, collects = (bool(pattern.search(source)) for pattern in patterns)
    unregistered = compiler or bool(REGISTERS.search(source))
    seconds = DEADLINE * (3 if compiler else 1)  # a compiler took 10 s on free cores, and 60 s on busy ones
    return Needs(compiler, dynamo, alone, unregistered, collects, seconds)
