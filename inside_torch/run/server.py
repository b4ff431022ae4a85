"""The fork server: a process that has torch imported and forks itself for each block.

It answers requests on one Unix socket (one message each, with the file descriptors the child is to
have) until the other end closes; then it kills what still runs and ends. It computes nothing with
torch: threads would not survive a fork.
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import platform
import selectors
import shutil
import signal
import socket
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

from inside_torch.run import child

NAME = "inside_torch.run.server"
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h

# What a first compile or optimizer imports lazily, and would otherwise import in each fork: modules, and with `.*` all
# modules of a package. A name that another torch lacks is passed over; tests/test_plain.py says which are missing.
COMPILE = """
    torch._dynamo.backends.* torch._dynamo.dce_extra_outputs torch._dynamo.repro.after_dynamo torch.export._trace
    torch._functorch._activation_checkpointing.remat_using_tags_for_fwd_loss_bwd_graph_pass
    torch._functorch._aot_autograd.subclass_codegen torch._higher_order_ops.passes.inline_invoke_subgraph
    torch._inductor.bounds torch._inductor.choices torch._inductor.compile_fx torch._inductor.compiler_bisector
    torch._inductor.extern_node_serializer torch._inductor.hooks torch._inductor.codegen.*
    torch._inductor.codegen.cuda.* torch._inductor.codegen.mtia.* torch._inductor.codegen.xpu.*
    torch._inductor.fx_passes.* torch._inductor.fx_passes.serialized_patterns.*
    torch._subclasses.schema_check_mode torch.fx.experimental.validator torch.profiler._cupti_monitor
    multiprocessing.synchronize sympy.tensor.tensor
""".split()


def control(option: int, value: int) -> None:
    """Set a process attribute of Linux (prctl)."""
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def children() -> set[int]:
    """Process ids of this process's children."""
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


def tell(pipe: int, number: int) -> None:
    """Write a line to a pipe whose reader may have gone."""
    with contextlib.suppress(BrokenPipeError):
        os.write(pipe, f"{number}\n".encode())


def preload(names: Iterable[str]) -> None:
    """Import modules, as COMPILE names them, which each child would otherwise import for itself."""
    for name in names:
        with contextlib.suppress(Exception):
            module = importlib.import_module(name.removesuffix(".*"))
            if name.endswith(".*"):
                preload(f"{module.__name__}.{found.name}" for found in pkgutil.iter_modules(module.__path__))


def probe_compiler() -> None:
    """Find out once which vector instructions Inductor may use, and the digest of its own source. Each probe compiles
    and loads a small program: side by side, and over before the first fork."""
    from torch._inductor import codecache, cpu_vec_isa

    usable = cpu_vec_isa.x86_isa_checker() if platform.machine() in ("x86_64", "AMD64") else []
    probed = [isa for isa in cpu_vec_isa.supported_vec_isa_list if all(flag in usable for flag in str(isa).split())]
    with ThreadPoolExecutor() as pool:
        list(pool.map(bool, probed))
    cpu_vec_isa.valid_vec_isa_list()
    codecache.torch_key()


def become_block(request: dict, descriptors: list[int]) -> NoReturn:
    """In a fresh fork: take the block's streams, forget the server, run the block and end."""
    try:
        os.setsid()
        control(PR_SET_PDEATHSIG, signal.SIGKILL)
        control(PR_SET_CHILD_SUBREAPER, 1)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        standard_input = os.open(os.devnull, os.O_RDONLY)
        for number, descriptor in enumerate([standard_input, *descriptors[:2]]):
            os.dup2(descriptor, number)
        os.closerange(3, 4096)
        for name in [name for name in sys.modules if name.split(".")[0] == "inside_torch"]:
            del sys.modules[name]
        os.environ.update(request["environment"])
        if request["collects"]:
            gc.unfreeze()
        os._exit(child.run(Path(request["scratch"]), request["path"], request["strict"]))
    except BaseException as error:
        os.write(2, f"{NAME}: {error!r}\n".encode())
    finally:
        os._exit(1)


class Server:
    """Forks blocks and reaps them; `running` maps a block's process id to the pipe its end is told to."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.running: dict[int, int] = {}

    def accept(self) -> bool:
        """Take one request; False when the other end is closed."""
        message, descriptors, _, _ = socket.recv_fds(self.connection, 1 << 16, 3)
        if not message:
            return False
        request = json.loads(message)
        if "preload" in request:
            for name in COMPILE:
                preload([name])
                self.reap()  # no block that ends meanwhile waits for the rest
            with contextlib.suppress(ImportError, AttributeError):  # another torch may name these otherwise
                probe_compiler()
            return True
        gc.freeze()  # or else a child's collector looks at, and so copies, all that was imported
        if (pid := os.fork()) == 0:
            become_block(request, descriptors)
        *streams, status = descriptors
        for descriptor in streams:
            os.close(descriptor)
        tell(status, pid)
        self.running[pid] = status
        return True

    def kill_strays(self) -> None:
        """Kill what ended blocks left behind: any child that is no running block is an orphan of one."""
        while strays := children() - self.running.keys():
            for pid in strays:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)

    def reap(self) -> None:
        """Tell the end of each finished block, after killing everything it started."""
        for pid in list(self.running):
            done, status = os.waitpid(pid, os.WNOHANG)
            if not done:
                continue
            pipe = self.running.pop(pid)
            self.kill_strays()
            tell(pipe, os.waitstatus_to_exitcode(status))
            os.close(pipe)

    def close(self) -> None:
        """Kill every running block and all it started."""
        for pid in self.running:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self.running.clear()
        self.kill_strays()


def serve(connection: socket.socket) -> None:
    """Serve requests until the other end of `connection` closes."""
    wake, waker = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the build's affair
    control(PR_SET_CHILD_SUBREAPER, 1)
    server = Server(connection)
    with selectors.DefaultSelector() as selector:
        selector.register(connection, selectors.EVENT_READ)
        selector.register(wake, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if wake in ready:
                os.read(wake, 4096)
                server.reap()
            if connection in ready and not server.accept():
                break
    server.close()


def main(arguments: list[str]) -> None:
    """`python -m inside_torch.run.server SOCKET FOLDER`; FOLDER is removed at the end."""
    connection = socket.socket(fileno=int(arguments[0]))
    sys.path[:] = [entry for entry in sys.path if entry not in ("", os.getcwd())]
    preload(("torch", "numpy", "networkx"))
    try:
        serve(connection)
    finally:
        shutil.rmtree(arguments[1], ignore_errors=True)
        os._exit(0)  # taking torch down in order takes a third of a second and frees nothing that the end does not


if __name__ == "__main__":
    main(sys.argv[1:])
