"""How many instructions a call of add executes, and in which layers, counted by valgrind, for a page to include."""

import gc
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import torch

CALLS = 100
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


def statements() -> dict:
    """Loops that make a call CALLS times, by the call; the first makes none."""
    x, many = torch.ones(2, 3), torch.ones(1000)
    double, p, add = x.double(), torch.ones(2, 3, requires_grad=True), torch.ops.aten.add.Tensor
    calls = ("None", "x + x", "many + many", "x + p", "add(x, x)", "x + double", "x + 1")
    given = {"x": x, "many": many, "double": double, "p": p, "add": add}
    return {call: eval(f"lambda: [{call} for _ in range({CALLS})]", given) for call in calls}


def counted() -> None:
    """Runs each loop twice, first to warm up, then for valgrind, which writes a file for it."""
    torch.set_num_threads(1)
    loops = statements()
    for loop in loops.values():
        loop()
    gc.disable()
    for loop in loops.values():
        torch._C._valgrind_toggle()
        loop()
        torch._C._valgrind_toggle_and_dump_stats()


def read(file: Path) -> Counter:
    """The instructions of each function itself, without those of the functions that it calls."""
    names, own, current, skip = {}, Counter(), "", False
    for line in file.read_text().splitlines():
        if named := re.match(r"(c?)fn=\((\d+)\)(?: (.*))?$", line):
            names.update({named[2]: named[3]} if named[3] else {})
            current = current if named[1] else named[2]
        elif line.startswith("calls="):
            skip = True
        elif re.match(r"[+*-]?\d* ?\d+$", line):
            own[current] += 0 if skip else int(line.split()[-1])
            skip = False
    total = Counter()
    for key, count in own.items():
        total[names.get(key, "")] += count
    return total


def layer(name: str) -> str:
    """The layer of a function, by its name without the types of its arguments."""
    plain = name.replace("(anonymous namespace)", "").partition("(")[0]
    return next((layer for layer, pattern in LAYERS.items() if re.search(pattern, plain)), PYTHON)


def main() -> None:
    tool = ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--callgrind-out-file=out"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*tool, sys.executable, __file__, "count"], cwd=folder, check=True, capture_output=True)
        files = sorted(Path(folder).glob("out.*"), key=lambda file: int(file.suffix[1:]))
        per_call = dict(zip(statements(), (read(file) for file in files if int(file.suffix[1:]) > 0)))
    base, once = per_call["None"].total(), per_call["x + x"]
    shares = Counter()
    for name, count in once.items():
        shares[layer(name)] += count
    shares[PYTHON] -= base
    version = subprocess.run(["valgrind", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    where = f"{version}, torch {torch.__version__.partition('+')[0]}, a CPU with AVX2\n"
    print("--8<-- [start:add]", where, "instructions of a call, as a multiple of x + x", sep="\n")
    for name, counts in list(per_call.items())[1:]:
        print(f"{name:32}{(counts.total() - base) / (once.total() - base):6.2f}")
    print("\ninstructions of x + x, by layer")
    for name in [PYTHON, *reversed(LAYERS)]:
        print(f"{name:32}{100 * shares[name] / shares.total():4.0f} %")
    print("--8<-- [end:add]")


if __name__ == "__main__":
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        sys.exit(77)  # the status by which test runners know a skip
    counted() if sys.argv[1:] == ["count"] else main()
