"""In which layers the instructions of a call of add are, counted by valgrind, for a page to include."""

import gc
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import torch

CALLS = 100
SHARED = "pthread_|__tls_get_addr|^(__)?mem(set|cpy|move|cmp)"  # functions that count for the layer of their caller
LAYERS = {  # the first layer with a pattern in a function's name has its instructions
    "the kernel of add": "add_kernel|VectorizedLoop|DispatchStub|get_cpu_capability",
    "the result and its memory": (
        "malloc|_int_free|^free|cfree|memalign|consolidate|unlink_chunk|operator (new|delete)|empty_|alloc_cpu|free_cpu"
        "|TensorImpl|StorageImpl|DataPtr|UniqueVoidPtr|make_tensor_base|intrusive|computeStorage|CPUAllocator"
        "|SizesAndStrides|[dD]elete|TensorOptions|TypeMeta|check_size|reportMemory|AutogradMeta|MemoryReporter"
        "|memoryProfilingEnabled|compute_alignment|original_options"
    ),
    "TensorIterator": (
        "TensorIterator|OperandInfo|function_ref|structured_|infer_size|serial_for_each|canCast|result_type|promote"
        "|SmallVector|overlap|MetaBase|OpaqueOptional"
    ),
    "autograd's function": "VariableType|GradMode|autograd::(?!THP)|compute_requires_grad|isFwGrad|Forward|ADInplace",
    "dispatcher": (
        "at::_ops::|OperatorEntry|Dispatch|getStepCallbacks|tls_|LocalDispatch|__tls_get_addr|RecordFunction|wrapper_CPU"
        "|wrap_kernel_functor|RegisterCPU"
    ),
}
PYTHON = "Python, and the way to C++"


def counted() -> None:
    """Runs two loops, one without calls, twice: first to warm up, then for valgrind, which writes a file for each."""
    torch.set_num_threads(1)
    x = torch.ones(2, 3)
    loops = (lambda: [None for _ in range(CALLS)]), (lambda: [x + x for _ in range(CALLS)])
    for loop in loops:
        loop()
    gc.disable()
    for loop in loops:
        torch._C._valgrind_toggle()
        loop()
        torch._C._valgrind_toggle_and_dump_stats()


def read(file: Path) -> Counter:
    """The instructions of each function, without those of the functions that it calls, but for the shared ones."""
    names, own, calls, current, called = {}, Counter(), Counter(), "", None
    for line in file.read_text().splitlines():
        if named := re.match(r"(c?)fn=\((\d+)\)(?: (.*))?$", line):
            names.update({named[2]: named[3]} if named[3] else {})
            current, called = (current, named[2]) if named[1] else (named[2], None)
        elif re.match(r"[+*-]?\d* ?\d+$", line):
            into, key = (own, current) if called is None else (calls, (current, called))
            into[key] += int(line.split()[-1])
            called = None
    shared = {key for key, name in names.items() if re.search(SHARED, name)}
    total = Counter()
    for key, count in own.items():
        total[names.get(key, "")] += 0 if key in shared else count
    for (caller, key), count in calls.items():
        total[names.get(caller, "")] += count if key in shared and caller not in shared else 0
    return total


def layer(name: str) -> str:
    """The layer of a function, by its name without the types of its arguments."""
    plain = name.replace("(anonymous namespace)", "")
    plain = plain if "VectorizedLoop" in plain else plain.partition("(")[0]  # a wrapper of the loop has it in a type
    return next((layer for layer, pattern in LAYERS.items() if re.search(pattern, plain)), PYTHON)


def shares() -> dict:
    """The percentage of each layer, in a process of its own."""
    tool = ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--callgrind-out-file=out"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*tool, sys.executable, __file__, "count"], cwd=folder, check=True, capture_output=True)
        files = sorted(Path(folder).glob("out.*"), key=lambda file: int(file.suffix[1:]))
        base, once = (read(file) for file in files if int(file.suffix[1:]) > 0)
    layers = Counter({PYTHON: -base.total()})
    for name, count in once.items():
        layers[layer(name)] += count
    return {name: 100 * layers[name] / layers.total() for name in [PYTHON, *reversed(LAYERS)]}


def main() -> None:
    by_layer = shares()
    version = subprocess.run(["valgrind", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    torchs, python = torch.__version__.partition("+")[0], platform.python_version()
    print(f"--8<-- [start:add]\n{version}, torch {torchs}, Python {python}, {platform.machine()}\n")
    print("instructions of x + x, by layer")
    for name, share in by_layer.items():
        print(f"{name:32}{share:4.0f} %")
    print("--8<-- [end:add]")


if __name__ == "__main__":
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        sys.exit(77)  # the status by which test runners know a skip
    counted() if sys.argv[1:] == ["count"] else main()
