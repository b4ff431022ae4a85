"""Run blocks in processes of their own: forks of a warm server on Linux, fresh interpreters elsewhere."""

from __future__ import annotations

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
from collections.abc import Iterator
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
    """Runs programs with an edition's torch; starts its servers when first asked and keeps them until `close`.

    `environment` is a program's whole environment, the edition's unless another is given.
    """

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
        self.process: subprocess.Popen | None = None
        self.connections: dict[bool, socket.socket] = {}

    def start(self) -> socket.socket:
        """Start the server with torch imported; returns the socket it listens on."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.process = subprocess.Popen(
            [self.edition.python, "-m", server.NAME, str(theirs.fileno()), str(self.folder)],
            cwd=ROOT,
            env=self.environment,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()
        return ours

    def connection(self, full: bool) -> socket.socket:
        """The socket of the server that has imported torch, or (`full`) all that torch's compilers need, too."""
        with self.lock:
            if False not in self.connections:
                self.connections[False] = self.start()
            if full not in self.connections:
                ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                Fork(self.connections[False], {"preload": True}, [theirs.fileno()])
                theirs.close()
                self.connections[full] = ours
            return self.connections[full]

    def prepare(self, full: bool = False) -> None:
        """Have a server ready, and wait until it is."""
        if self.forks:
            self.run("", full=full)

    def launch(self, request: dict, full: bool, descriptors: list[int]) -> Fork | Fresh:
        if self.forks:
            return Fork(self.connection(full), request, descriptors)
        return Fresh(self.edition.python, request, descriptors)

    @contextlib.contextmanager
    def scratch(self, source: str) -> Iterator[Path]:
        """A folder with block.py and two empty folders, work and tmp; removed afterwards."""
        self.folder.mkdir(exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        (folder / child.NAME).write_text(source, encoding="utf-8")
        (folder / "work").mkdir()
        (folder / "tmp").mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def run(
        self, source: str, path: tuple[str, ...] = (), full: bool = False, extensions: Path | None = None
    ) -> Outcome:
        """Run `source` as a whole program.

        `path` comes first in sys.path, `full` chooses the server, and what torch's extension builder compiles is
        kept in `extensions` unless the program fails.
        """
        stopped: list[str] = []
        deadline = self.deadline or needs(source).seconds

        def stop(reason: str) -> None:
            stopped.append(reason)
            process.kill()

        with self.scratch(source) as folder:
            request = {
                "scratch": str(folder),
                "path": list(path),
                "strict": self.strict,
                "environment": {"TORCH_EXTENSIONS_DIR": str(extensions or folder / "extensions")},
            }
            if not self.forks:
                request["environment"] = self.environment | request["environment"]
            pipes = [os.pipe(), os.pipe()]
            process = self.launch(request, full, [write for _, write in pipes])
            for _, write in pipes:
                os.close(write)
            too_much = f"it printed more than {OUTPUT_LIMIT} bytes"
            readers = [Reader(read, lambda: stop(too_much)) for read, _ in pipes]
            too_long = f"it ran longer than {deadline:g} seconds"
            timer = threading.Timer(deadline, stop, [too_long])
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
        """End the servers, every block still running, and their folder."""
        for connection in self.connections.values():
            connection.close()
        self.connections.clear()
        if self.process:
            self.process.wait()
            self.process = None
        shutil.rmtree(self.folder, ignore_errors=True)
