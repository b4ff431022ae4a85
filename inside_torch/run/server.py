"""The fork server: a process that has torch imported and forks itself for each block.

It answers requests on one Unix socket (one message each, with the file descriptors the child is to
have) until the other end closes; then it kills what still runs and ends. It computes nothing with
torch: threads would not survive a fork.
"""

from __future__ import annotations

import contextlib
import ctypes
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from inside_torch.run import child

NAME = "inside_torch.run.server"
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h

# What a first compile or optimizer imports lazily: the modules that it would otherwise import in each fork. A name that
# another torch lacks is passed over; tests/test_plain.py says which are missing.
COMPILE = (
    *(
        "torch." + name
        for name in """
    _dynamo _dynamo.repro.after_dynamo _dynamo.backends.cudagraphs _dynamo.backends.distributed
    _dynamo.backends.inductor _dynamo.backends.onnxrt _dynamo.backends.tensorrt _dynamo.backends.torchxla
    _dynamo.backends.tvm _dynamo.dce_extra_outputs
    _export.db.logging _export.passes._node_metadata_hook
    _export.passes.add_runtime_assertions_for_constraints_pass export._trace export._unlift
    _functorch.aot_autograd _functorch._aot_autograd.subclass_codegen
    _functorch._activation_checkpointing.remat_using_tags_for_fwd_loss_bwd_graph_pass
    _higher_order_ops.passes.inline_invoke_subgraph
    _inductor.bounds _inductor.choices _inductor.compile_fx _inductor.compiler_bisector
    _inductor.extern_node_serializer _inductor.hooks _inductor.kernel_template_choice _inductor.codegen.cpp
    _inductor.codegen.cpp_wrapper_cpu_array_ref _inductor.codegen.cpp_wrapper_gpu
    _inductor.codegen.cpp_wrapper_mps _inductor.codegen.cuda_combined_scheduling
    _inductor.codegen.halide _inductor.codegen.memory_planning _inductor.codegen.mps _inductor.codegen.mtia
    _inductor.codegen.pallas _inductor.codegen.python_wrapper_mtia _inductor.codegen.segmented_tree
    _inductor.codegen.wrapper_fxir _inductor.codegen.xpu.xpu_combined_scheduling
    _inductor.codegen.cpu_device_op_overrides _inductor.codegen.cuda.device_op_overrides
    _inductor.codegen.mps_device_op_overrides _inductor.codegen.mtia.device_op_overrides
    _inductor.codegen.xpu.device_op_overrides
    _inductor.fx_passes.apply_gumbel_max_trick _inductor.fx_passes.efficient_conv_bn_eval
    _inductor.fx_passes.freezing_patterns _inductor.fx_passes.fuse_attention _inductor.fx_passes.mkldnn_fusion
    _inductor.fx_passes.pad_mm _inductor.fx_passes.quantization _inductor.fx_passes.serialized_patterns
    _subclasses.schema_check_mode fx.experimental.validator optim profiler._cupti_monitor
    utils._cpp_embed_headers utils.checkpoint
    """.split()
    ),
    "multiprocessing.synchronize",
    "sympy.combinatorics",
    "sympy.tensor.tensor",
)


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


def preload(names: tuple[str, ...]) -> None:
    """Import the modules and compute the pure values that each child would otherwise pay for again."""
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    if patterns := sys.modules.get("torch._inductor.fx_passes.serialized_patterns"):
        for found in pkgutil.iter_modules(patterns.__path__):
            importlib.import_module(f"{patterns.__name__}.{found.name}")
    if "torch._inductor.compile_fx" in sys.modules:
        with contextlib.suppress(ImportError, AttributeError):  # another torch may name these otherwise
            probe_compiler()


def probe_compiler() -> None:
    """Find out once which vector instructions Inductor may use, and the digest of its own source.

    Each probe compiles and loads a small program: side by side, and over before the first fork.
    """
    from torch._inductor import codecache, cpu_vec_isa

    usable = cpu_vec_isa.x86_isa_checker() if platform.machine() in ("x86_64", "AMD64") else []
    probed = [isa for isa in cpu_vec_isa.supported_vec_isa_list if all(flag in usable for flag in str(isa).split())]
    with ThreadPoolExecutor() as pool:
        list(pool.map(bool, probed))
    cpu_vec_isa.valid_vec_isa_list()
    codecache.torch_key()


def become_block(request: dict, descriptors: list[int]) -> None:
    """In a fresh fork: take the block's streams, forget the server, run the block and end."""
    standard_input = os.open(os.devnull, os.O_RDONLY)
    for number, descriptor in enumerate([standard_input, *descriptors[:2]]):
        os.dup2(descriptor, number)
    os.closerange(3, 4096)
    for name in [name for name in sys.modules if name.split(".")[0] == "inside_torch"]:
        del sys.modules[name]
    os.environ.update(request["environment"])
    os._exit(child.run(Path(request["scratch"]), request["path"], request["strict"]))


def become_server(request: dict, descriptors: list[int]) -> None:
    """In a fresh fork: import more, then serve a socket of its own."""
    connection = socket.socket(fileno=descriptors[0])
    preload(COMPILE)
    serve(connection)


def fork(request: dict, descriptors: list[int]) -> int:
    """Fork into what the request asks for; returns the process id. The child never returns."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        control(PR_SET_PDEATHSIG, signal.SIGKILL)
        control(PR_SET_CHILD_SUBREAPER, 1)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        (become_server if "preload" in request else become_block)(request, descriptors)
        os._exit(0)
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
        pid = fork(json.loads(message), descriptors)
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
