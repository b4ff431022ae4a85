"""Run blocks in processes of their own: forks of a warm server on Linux, fresh interpreters elsewhere."""

import atexit
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from inside_torch.edition import ROOT, Edition
from inside_torch.run import child, server
from inside_torch.run.needs import needs

FORKS = sys.platform == "linux"  # macOS has fork, but its system libraries do not survive one
OUTPUT_LIMIT = 100_000  # bytes a block may print on each stream


@dataclass(frozen=True)
class Outcome:
    """What became of one block: its streams, its exit status (negative: a signal), and why it was stopped."""

    stdout: bytes
    stderr: bytes
    status: int
    finished: bool
    stopped: str = ""


class Reader(threading.Thread):
    """Reads a pipe to its end, keeps the first OUTPUT_LIMIT bytes, and says when there are more."""

    def __init__(self, descriptor: int, overflow) -> None:
        super().__init__(daemon=True)
        self.descriptor, self.overflow, self.kept = descriptor, overflow, b""
        self.start()

    def run(self) -> None:
        with open(self.descriptor, "rb", buffering=0) as pipe:
            while part := pipe.read(1 << 16):
                room = OUTPUT_LIMIT - len(self.kept)
                self.kept += part[:room]
                if len(part) > room:
                    self.overflow()


class Fork:
    """A block that is a child of the server; told its process id and its exit status through a pipe."""

    def __init__(self, connection: socket.socket, request: dict, descriptors: list[int]) -> None:
        readable, writable = os.pipe()
        try:
            socket.send_fds(connection, [json.dumps(request).encode()], [*descriptors, writable])
        finally:
            os.close(writable)
        self.status = open(readable, "rb", buffering=0)  # noqa: SIM115 - closed by wait
        self.pid = int(self.status.readline() or 0)

    def kill(self) -> None:
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """The exit status, once the process and all it started are gone."""
        with self.status:
            return int(self.status.readline() or -signal.SIGKILL)


class Fresh:
    """A block in an interpreter of its own."""

    def __init__(self, python: str, request: dict, descriptors: list[int]) -> None:
        self.process = subprocess.Popen(
            [python, "-m", child.__name__, request["scratch"], str(request["strict"]), *request["path"]],
            cwd=ROOT,
            env=request["environment"],
            stdin=subprocess.DEVNULL,
            stdout=descriptors[0],
            stderr=descriptors[1],
            start_new_session=True,
        )

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL) if os.name == "posix" else self.process.kill()

    def wait(self) -> int:
        status = self.process.wait()
        self.kill()
        return status


class Runner:
    """Runs programs with an edition's torch; starts its server when first asked and keeps it until `close`.
    `environment` is a program's whole environment, the edition's unless another is given."""

    def __init__(
        self,
        edition: Edition,
        environment: dict[str, str] | None = None,
        forks: bool = FORKS,
        deadline: float | None = None,
    ) -> None:
        self.edition, self.forks, self.deadline = edition, forks, deadline
        self.environment = environment or edition.environment
        self.strict = environment is None  # what is not the edition's is as Python would have it
        self.folder = Path(tempfile.mkdtemp(prefix="inside-torch-"))
        self.lock = threading.Lock()
        self.connection: socket.socket | None = None
        self.full = False
        atexit.register(self.close)

    def start(self) -> None:
        """Start the server, which imports torch and then listens on the other end of `connection`."""
        self.connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.process = subprocess.Popen(
            [self.edition.python, "-m", server.NAME, str(theirs.fileno()), str(self.folder)],
            cwd=ROOT,
            env=self.environment,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()

    def launch(self, request: dict, full: bool, descriptors: list[int]) -> Fork | Fresh:
        """Begin with a block; a `full` server imports all that torch's compilers need first."""
        if not self.forks:
            request["environment"] = self.environment | request["environment"]
            return Fresh(self.edition.python, request, descriptors)
        with self.lock:
            if not self.connection:
                self.start()
            if full and not self.full:
                self.connection.send(json.dumps({"preload": True}).encode())
                self.full = True
        return Fork(self.connection, request, descriptors)

    def run(
        self, source: str, path: tuple[str, ...] = (), full: bool = False, extensions: Path | None = None
    ) -> Outcome:
        """Run `source` as a whole program. `path` comes first in sys.path, `full` is for what may compile with torch,
        and what torch's extension builder compiles is kept in `extensions` unless the program fails."""
        stopped: list[str] = []
        needed = needs(source)
        deadline = self.deadline or needed.seconds

        def stop(reason: str) -> None:
            stopped.append(reason)
            process.kill()

        with tempfile.TemporaryDirectory(dir=self.folder, ignore_cleanup_errors=True) as scratch:
            folder = Path(scratch)
            (folder / child.NAME).write_text(source, encoding="utf-8")
            (folder / "work").mkdir()
            (folder / "tmp").mkdir()
            environment = {"TORCH_EXTENSIONS_DIR": str(extensions or folder / "extensions")}
            request = {
                "scratch": scratch,
                "path": path,
                "strict": self.strict,
                "environment": environment,
                "collects": needed.collects,
            }
            pipes = [os.pipe(), os.pipe()]
            process = self.launch(request, full, [write for _, write in pipes])
            for _, write in pipes:
                os.close(write)
            readers = [Reader(read, lambda: stop(f"it printed more than {OUTPUT_LIMIT} bytes")) for read, _ in pipes]
            timer = threading.Timer(deadline, stop, [f"it ran longer than {deadline:g} seconds"])
            timer.start()
            status = process.wait()
            timer.cancel()
            for reader in readers:
                reader.join()
            finished = (folder / child.FINISHED).exists()
        if status and extensions:
            shutil.rmtree(extensions, ignore_errors=True)  # a killed build leaves a lock that the next waits for
        stdout, stderr = (reader.kept for reader in readers)
        return Outcome(stdout, stderr, status, finished, stopped[0] if stopped else "")

    def close(self) -> None:
        """End the server, every block still running, and their folder."""
        if self.connection:
            self.connection.close()
            self.process.wait()
            self.connection = None
        shutil.rmtree(self.folder, ignore_errors=True)
