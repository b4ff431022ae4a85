"""The figure of the names in compiled files: which file has the code of a name, and which only asks for it.

Each source is compiled by the machine's C++ compiler and the objects are linked; `nm` says what is in each file, and
the dynamic loader whether torch's own library has a name."""

import ctypes
import subprocess
import tempfile
from pathlib import Path

import torch

from inside_torch.drawing.checks import checked_dict

from .boxes import DASH, laid_out, tally

TORCH = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
ADDED = ("_GLOBAL", "_init", "_fini")  # by the compiler
SAID = {"T": "has", "U": "asks"}


def linked_names(sources: dict[str, str], library: str, *, title: str, alone: str = "") -> str:
    """A row for each function that a source defines or calls, and a column for each object file, for the shared
    library that is linked of them, and for torch: a file has the code of a function, or asks for it, or neither.
    `sources` maps the name of a C++ file to its text, one to three of them. `alone` names a library that is linked of
    the first source only, and has a column of its own. Raises ValueError where the compiler refuses a source, and where
    a function is asked for that neither library nor torch has."""
    files = _files(checked_dict(sources, str, "sources", most=3), library, alone)
    names = list(dict.fromkeys(name for found in files.values() for name in found))
    shown = dict(zip(names, _run(["c++filt"], "\n".join(names)).splitlines()))
    torchs = ctypes.CDLL(str(TORCH))
    files["torch"] = {name: "has" for name in names if hasattr(torchs, name)}
    rows = [[shown[name], *(found.get(name, DASH) for found in files.values())] for name in names]
    if lost := [row[0] for row in rows if "has" not in row]:
        raise ValueError(f"neither {library} nor torch has {', '.join(lost)}")
    desc = " ".join(
        f"{name}: {', '.join(f'{f} {s}' for f, s in zip(files, said) if s != DASH)}." for name, *said in rows
    )
    drawn = [[name, *("" if said == DASH else said for said in row)] for name, *row in rows]
    return laid_out(title, desc, ["function", *files], rows, tally, list(files), drawn, (40, 60), kind="it-1 it-large")


def _files(sources: dict, library: str, alone: str) -> dict:
    """What each object file, and the library of them all, has and asks for: a table by name as the compiler writes
    it."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, made = Path(scratch), {}
        for name, source in sources.items():
            (folder / name).write_text(source, encoding="utf-8")
            made[Path(name).stem + ".o"] = ["-fPIC", "-c", name]
        first, *others = made
        more = {alone: ["-shared", first]} if alone else {}
        made = {first: made[first]} | more | {name: made[name] for name in others} | {library: ["-shared", *made]}
        for name, told in made.items():
            _run(["c++", "-o", name, *told], folder=folder)
        dynamic = {library: ["-D"], alone: ["-D"]}
        return {name: _names(_run(["nm", *dynamic.get(name, []), name], folder=folder)) for name in made}


def _names(listed: str) -> dict:
    """The functions in the answer of `nm`, without those that the compiler adds."""
    pairs = [line.split()[-2:] for line in listed.splitlines()]
    return {name: SAID[kind] for kind, name in pairs if kind in SAID and not name.startswith(ADDED)}


def _run(command: list, given: str = "", folder: Path | None = None) -> str:
    """What a command prints; raises ValueError with what it said where it failed."""
    done = subprocess.run(command, input=given, capture_output=True, text=True, cwd=folder)
    if done.returncode:
        raise ValueError(f"{command[0]}: {done.stderr.strip()}")
    return done.stdout
