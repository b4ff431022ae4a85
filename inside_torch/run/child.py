"""Run one block as a whole program, in this process, and leave it the way Python would."""

import atexit
import ctypes
import linecache
import os
import signal
import sys
import threading
import traceback
import types
import warnings
from pathlib import Path

NAME = "block.py"
FINISHED = "finished"


def line_buffered_c_output() -> None:
    """Let C and C++ print line by line, as they would on a terminal, so that lines keep their order."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.setvbuf(ctypes.c_void_p.in_dll(libc, "stdout"), None, 1, 0)


def open_streams() -> None:
    """Open Python's streams anew on the descriptors, as Python had opened them; a fork inherits the server's."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        mode, buffering, errors = "rww"[number], (-1, 1, 1)[number], getattr(sys, f"__{name}__").errors
        stream = open(number, mode, buffering, "utf-8", errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def flush() -> None:
    """Write out what Python and C still hold; a block may have closed its own streams."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue
    if os.name == "posix":
        ctypes.CDLL(None).fflush(None)


def execute(source: str, main: types.ModuleType) -> int:
    """Execute `source` as the program `main`; returns the exit status Python would end with."""
    try:
        exec(compile(source, NAME, "exec"), main.__dict__)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException as error:
        frames = error.__traceback__.tb_next if error.__traceback__ else None
        traceback.print_exception(type(error), error, frames)
        return 1
    return 0


def run(scratch: Path, path: list[str], strict: bool) -> int:
    """Run `scratch`/block.py in the empty folder `scratch`/work; `path` comes first in sys.path. `strict` shows every
    DeprecationWarning; Python shows those of the program itself alone. Writes the exit status into `scratch`/finished
    at the very end: a program that ends any other way (os._exit, a signal) leaves no such file."""
    file = scratch / NAME
    source = file.read_text(encoding="utf-8")
    os.chdir(scratch / "work")
    os.environ["TMPDIR"] = str(scratch / "tmp")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if strict:
        warnings.filterwarnings("default", category=DeprecationWarning)
    atexit._clear()  # what the server registered is the server's
    line_buffered_c_output()
    open_streams()
    sys.argv[:] = [NAME]
    sys.path[:] = [str(scratch / "work"), *path, *sys.path]  # where Python has the folder of a script
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=str(file), __builtins__=__builtins__, __annotations__={}, __cached__=None)
    sys.modules["__main__"] = main
    linecache.cache[NAME] = (len(source), None, source.splitlines(True), NAME)
    status = execute(source, main)
    threading._shutdown()
    atexit._run_exitfuncs()
    flush()
    (scratch / FINISHED).write_text(str(status))
    return status


if __name__ == "__main__":
    # Where there is no fork: `python -m inside_torch.run.child SCRATCH STRICT [PATH ...]`
    home = str(Path(__file__).resolve().parents[2])
    sys.path[:] = [entry for entry in sys.path if entry not in ("", home)]
    del sys.modules["inside_torch"]
    os._exit(run(Path(sys.argv[1]), sys.argv[3:], sys.argv[2] == "True"))
