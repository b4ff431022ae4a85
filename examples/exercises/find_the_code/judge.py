"""Ask about the entries of native_functions.yaml, and compare with the dispatcher's record and the shipped headers."""

import random
import re
from pathlib import Path

import torch
from check import compare

PLAIN = True
PACKAGES = Path(torch.__file__).parent.parent
YAML = PACKAGES / "torchgen" / "packaged" / "ATen" / "native" / "native_functions.yaml"
HEADERS = PACKAGES / "torch" / "include" / "ATen" / "ops"
RECORD = re.compile(r"^CPU: registered at \S*?(Register\w+)_\d+\.cpp:\d+ \[", re.M)
IMPLICIT, EXPLICIT = "CompositeImplicitAutograd", "CompositeExplicitAutograd"
KEYS = ("CPU", EXPLICIT, EXPLICIT + "NonFunctional", IMPLICIT)
HOW = dict(zip(KEYS, ("own", "explicit", "explicit", "composite")))
KNOWN = ["hardswish", "ones.out", "square.out", "q_scale"]  # with addmm, those that the page shows
KNOWN += ["relu", "addmm", "addmm.out", "addmm_", "linear", "conv2d", "convolution", "cudnn_convolution", "sum"]
KNOWN += ["silu_backward", "mish_backward", "native_channel_shuffle", "native_layer_norm", "svd.U", "pixel_shuffle"]


def entries():
    """The entries of the file, by the operator's name, without what the exercise does not ask for."""
    found = {}
    for block in re.split(r"^- func: ", YAML.read_text(encoding="utf-8"), flags=re.M)[1:]:
        entry = {"func": block.partition("\n")[0].strip()}
        if re.search(r"^  structured: True", block, re.M):
            entry["structured"] = True
        if there := re.search(r"^  structured_delegate: (\S+)", block, re.M):
            entry["structured_delegate"] = there[1]
        if lines := re.search(r"^  dispatch:.*\n((?: {4}.*\n| *#.*\n|\n)+)", block, re.M):
            entry["dispatch"] = dict(re.findall(r"^ {4}(\w[\w, ]*): (\S+)", lines[1], re.M))
        found[entry["func"].partition("(")[0]] = entry
    return found


def rule(
    keys=KEYS,
    substring=False,
    exact=False,
    no_dispatch=True,
    delegates=True,
    out=True,
    overload=False,
    flag_only=False,
    one_file=False,
):
    """What torchgen does with an entry, wrong in what is given."""

    def answer(entry, delegate):
        if delegate and delegates:
            how, file, kernel = answer(delegate, None)
            return ["own" if flag_only else how, file, kernel]
        kernels = {}
        for names, kernel in entry.get("dispatch", {}).items():
            for name in [names] if exact else names.split(", "):
                kernels.setdefault("CPU" if substring and "CPU" in name else name, kernel)
        if "dispatch" not in entry and no_dispatch:
            name, _, arguments = entry["func"].partition("(")
            written = "!" in arguments.partition(" -> ")[0].partition("*, ")[2]
            kernel = name.replace(".", "_") if overload else name.partition(".")[0]
            kernels[IMPLICIT] = kernel + "_out" * (written and out)
        for key in keys:
            if key in kernels:
                how = "structured" if entry.get("structured") else HOW[key]
                return [how, "Register" + (key.removesuffix("NonFunctional") if one_file else key), kernels[key]]
        return ["none", "", ""]

    return answer


def torchs(entry, delegate):
    """What torch has: the dispatcher's file, and a function that the operator's header declares."""
    name, overload = re.match(r"(\w+)(?:\.(\w+))?", entry["func"]).groups()
    record = RECORD.search(torch._C._dispatch_dump_table(f"aten::{name}" + f".{overload}" * bool(overload)))
    how, file, kernel = rule()(entry, delegate)
    if file != (record[1] if record else ""):
        raise RuntimeError(f"the dispatcher has {record and record[1]} for {name}, and not {file}")
    names = (name, name.removesuffix("_"), name.removesuffix("_functional"), re.sub(r"^__i?(\w+)__$", r"\1", name))
    base = next(one for one in names if (HEADERS / f"{one}_native.h").exists())
    header = (HEADERS / f"{base}_native.h").read_text(encoding="utf-8")
    if kernel and f" {'structured_' * (how == 'structured')}{kernel}" not in header:
        raise RuntimeError(f"the header of {base} declares no {kernel}")
    return [how, file, kernel]


IDEAS = {
    "You may have looked for CPU anywhere in the name of a key. QuantizedCPU, SparseCPU and MkldnnCPU are keys of "
    "their own, and their kernels never see a dense tensor.": rule(substring=True),
    "You may have taken the keys of a line as one name. `CPU, CUDA: relu` are two keys with the same kernel.": rule(
        exact=True
    ),
    "You may have given up where there is no `dispatch`. Such an operator is composite: its kernel has the "
    "operator's name.": rule(no_dispatch=False),
    "You may have read only the entry itself. Where it has a `structured_delegate`, the kernel for the CPU is in the "
    "`dispatch` of `delegate`.": rule(delegates=False),
    "You may have called only the entry with `structured: True` structured. An entry that delegates to it has "
    "the same kernel, so it is structured as well.": rule(flag_only=True),
    "You may have preferred CompositeImplicitAutograd to CPU. The implicit kernel serves the CPU only where no other "
    "key does.": rule((IMPLICIT, *KEYS[:3])),
    "You may have preferred CompositeExplicitAutograd to CPU. A kernel under the key itself comes first.": rule(
        (*KEYS[1:], "CPU")
    ),
    "You may have left out CompositeExplicitAutograd. Its kernel serves every backend, so it serves the CPU, "
    "too.": rule(("CPU", IMPLICIT)),
    "You may have left out CompositeExplicitAutogradNonFunctional. It is the second of the two explicit keys: its "
    "kernel serves every backend as well.": rule(("CPU", EXPLICIT, IMPLICIT)),
    "You may have taken the two explicit keys for one. CompositeExplicitAutogradNonFunctional has a file of its "
    "own.": rule(one_file=True),
    "You may have given an out variant the name of the plain function. In C++ they are two functions, and torchgen "
    "appends `_out`.": rule(out=False),
    "You may have put the overload into the name of the kernel. C++ tells overloads apart by their arguments, so "
    "torchgen leaves it out.": rule(overload=True),
}


def cases(draw):
    every = entries()
    names = [name for name, entry in every.items() if not entry["func"].startswith(("add.", "add_."))]
    for name in KNOWN + draw.sample(names, 400):
        yield every[name], every.get(every[name].get("structured_delegate"))


def check(work):
    otherwise = (
        "Follow `structured_delegate` first. Then look for a kernel under CPU, under the two explicit keys, and "
        "under CompositeImplicitAutograd, which is also what an entry without `dispatch` means."
    )
    compare("find_the_code", cases(random.Random(0)), work.find_the_code, torchs, IDEAS, otherwise)
