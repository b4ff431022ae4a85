"""The figure of an operator's call: through two slots and what torchgen wrote for them to the code of people, and the
entry that names this code."""

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import torch
import torchgen

from inside_torch.drawing.checks import checked
from inside_torch.drawing.layout import MARGIN
from inside_torch.drawing.svg import arrow, group, text

from .boxes import Box, across, down, grid, laid_out
from .keys import registered

PACKAGED = Path(torchgen.__file__).parent / "packaged"
NATIVE = PACKAGED / "ATen" / "native"
FILES = {"AutogradCPU": r"VariableType_\d+\.cpp", "CPU": r"RegisterCPU_\d+\.cpp"}
GAP, APART = 34, 58  # between rows and columns: room for an arrow and its label
LANE = 18  # beside the boxes on a phone: room for an arrow
AGAIN = "2 calls again"  # the call that arrives is step 1, and each arrow is the next one
SLOT, HAND = ["slot"], "by hand"
LEGEND = "dashed border: by torchgen", "solid arrow: a step", "dotted arrow: names the code"
READ_BY = "dotted arrow: torchgen reads, writes"


def yaml_path(name: str, *, title: str, fails: str = "", inputs: bool = False) -> str:
    """The way of a call of aten's operator `name` on the CPU: the slots of its dispatch table, what torchgen wrote for
    them, the functions written by hand that this calls. Beside it is the entry of native_functions.yaml that names
    them. Boxes with a dashed border are generated. `fails` is a program whose call fails below the kernel: then the
    functions down to the error are drawn as well. With `inputs`, the files that torchgen reads for a call are beside
    what it writes from each: the formula leads to autograd's function, and the entry to the wrapper. Source: the yaml
    files and the generator of the wheel, the dispatcher's record of registrations, the headers in ATen/ops, the C++
    stack of the program. Raises TypeError for what is no string, ValueError for an operator without an entry, a
    derivative or a CPU kernel, for a program whose stack has another way, for a figure that is too wide, and where
    torchgen, the headers or the dispatcher disagree."""
    functions, derivatives, _ = _parsed()
    own = functions.get(checked(name, str, "name"))
    if own is None or name not in derivatives:
        raise ValueError(f"{name} has no entry in {'native_functions' if own is None else 'derivatives'}.yaml")
    there = own.structured_delegate and str(own.structured_delegate)
    wrapper, kernel, hand = _generated(functions[there] if there else own, own)
    files = registered(f"aten::{name}")
    for key, pattern in FILES.items():
        if not re.fullmatch(pattern, files.get(key, "")):
            raise ValueError(f"the dispatcher has {files.get(key)} for {key}, and not a file {pattern}")
    autograd, class_ = f"VariableType::{name.replace('.', '_')}", hand[-1].removesuffix("::impl")
    inner = _below(checked(fails, str, "fails"), [autograd, wrapper, hand[-1]]) if fails else []
    said = [f"{name}: see {there}"] * bool(there) + [f"{there or name}:", f"CPU: {kernel}"]
    path = [
        ("AutogradCPU", SLOT, "it-tab"),
        (autograd, [files["AutogradCPU"], "torchgen"], "it-pill it-dashed"),
        ("CPU", SLOT, "it-tab"),
        (wrapper, [files["CPU"], "torchgen"], "it-pill it-dashed"),
        (hand[-1], [*(f"after {one}" for one in hand[:-1]), HAND], "it-pill"),
        *((one, [HAND], "it-pill") for one in inner),
    ]
    names = [("native_functions.yaml", [*said, HAND], "it-pill")]
    if inputs:
        names.insert(0, ("derivatives.yaml", [f"{name}:", *_formula(derivatives[name]), HAND], "it-pill"))
    elif len(hand) > 1:
        names.append((class_, ["class", "torchgen"], "it-pill it-dashed"))
    rows = [
        [head, " ".join(lines), ""] if lines == SLOT else [head, " ".join(lines[:-1]), lines[-1]]
        for head, lines, _ in path + names
    ]
    desc = f"A call of {name}, step by step: {_chain(path)}. "
    if inputs:
        read = zip(names, (autograd, wrapper))
        desc += "".join(f"From {_chain([one])} torchgen writes {made}. " for one, made in read).strip()
    else:
        desc += f"The name: {_chain(names)}, which leads to {hand[-1]}."
    return laid_out(title, desc, ["box", "holds", "written by"], rows, _draw, path, names, inputs)


@cache
def _parsed() -> tuple:
    """The entries of both files, by the operator's name, and what torchgen knows of each dispatch key."""
    import yaml  # torchgen needs it as well
    from torchgen.gen import parse_native_yaml

    functions, indices = parse_native_yaml(str(NATIVE / "native_functions.yaml"), str(NATIVE / "tags.yaml"))
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    rows = yaml.load((PACKAGED / "autograd" / "derivatives.yaml").read_text(encoding="utf-8"), loader)
    return {str(f.func.name): f for f in functions}, {row["name"].partition("(")[0]: row for row in rows}, indices


def _generated(entry, own) -> tuple:
    """What torchgen writes for the CPU: the function that it registers for `own`; the kernel's name in the yaml; the
    functions by hand that it calls, each of which the wheel's header must declare."""
    from torchgen import dest
    from torchgen.gen import get_grouped_native_functions
    from torchgen.model import DispatchKey, NativeFunctionsGroup
    from torchgen.selective_build.selector import SelectiveBuilder
    from torchgen.utils import Target

    index = _parsed()[2][DispatchKey.CPU]
    if not (found := index.get_kernel(entry)):
        raise ValueError(f"{entry.func.name} names no kernel for the CPU")
    one = own
    if found.structured:
        groups = get_grouped_native_functions(list(_parsed()[0].values()))
        one = next(g for g in groups if isinstance(g, NativeFunctionsGroup) and g.out is entry)
    settings = {"rocm": False, "symint": True, "class_method_name": None, "skip_dispatcher_op_registration": False}
    register = dest.RegisterDispatchKey(index, Target.REGISTRATION, SelectiveBuilder.get_nop_selector(), **settings)
    wrapper = re.search(rf'm\.impl\("{own.func.name}",\s*TORCH_FN\((\w+)\)\);', "\n".join(register(one)))[1]
    header = Path(torch.__file__).parent / f"include/ATen/ops/{entry.func.name.name}_native.h"
    declared = "\n".join(dest.compute_native_function_declaration(one, index)).strip()
    if declared not in header.read_text(encoding="utf-8"):
        raise ValueError(f"{header.name} does not declare what torchgen writes")
    both = [f"structured_{own.func.name.unambiguous_name()}::meta", f"structured_{found.kernel}::impl"]
    return wrapper, found.kernel, both if found.structured else [f"at::native::{found.kernel}"]


def _below(program: str, way: list) -> list:
    """The functions between the last one of `way` and the error of a program, which has to come this way."""
    run = [sys.executable, "-c", f"import torch\n{program}"]
    shown = os.environ | {"TORCH_SHOW_CPP_STACKTRACES": "1"}
    said = subprocess.run(run, capture_output=True, text=True, env=shown).stderr.replace("(anonymous namespace)::", "")
    frames = re.findall(r"^#\d+ (.*) from ", said, re.M)[::-1]
    for one in way:
        at = next((i for i, frame in enumerate(frames) if re.search(rf"\b{one}\b", frame)), None)
        if at is None:
            raise ValueError(f"the stack of the program does not come through {one}")
        frames = frames[at:]
    found = [re.match(r"at::native::(\w+)\(", frame) for frame in frames[1:]]
    return [one[1] for one in found if one]


def _formula(row: dict) -> list:
    """The first formula of an entry of derivatives.yaml, in short lines; what is between its brackets is left out."""
    arg, formula = next((key, str(value)) for key, value in row.items() if key not in ("name", "dispatch"))
    return [f"{arg}:", re.sub(r"[(].*[)]", "(...)", formula)]


def _short(lines: list) -> list:
    """The lines; long ones broken behind a colon, or behind what torchgen puts before a name."""
    broken = [re.sub(r"^(.*?(?:structured_|: ))(?=.{17})", r"\1\n", one) if len(one) > 30 else one for one in lines]
    return "\n".join(broken).split("\n")


def _chain(boxes: list) -> str:
    return ", then ".join(f"{head} ({', '.join(lines)})" for head, lines, _ in boxes)


def _draw(path: list, names: list, inputs: bool, wide: bool) -> list:
    """Slots left of the functions in them, and the entry at the right; on a phone all boxes below each other, and the
    way from the entry to the function that it names is a lane beside them. With `inputs`, each file at the right stands
    beside the function that it leads to, and on a phone has a lane of its own."""
    slots, calls = path[0:3:2], [path[1], *path[3:]]
    count = len(calls)  # the name leads to the third one
    if wide:
        left, right = [*slots, *[None] * count], [*[None] * (not inputs), *names, *[None] * count]
        rows = [[left[i], calls[i], right[i]] for i in range(count)]
    else:
        names = names[::-1] if inputs else names  # the shorter way is the inner lane, and no lines cross
        rows = [[one] for one in (*path, *names)]
    rows = [[one and Box(_short([one[0], *one[1]]), one[2], _short([one[0]])[-1]) for one in row] for row in rows]
    shapes, at = grid(rows, apart=APART, gap=GAP, pad=10)
    slots = [at[i, 0] if wide else at[2 * i, 0] for i in range(2)]
    calls = [at[i, 1] if wide else at[i + 1 + (i > 0), 0] for i in range(count)]
    named = [at[i + (not inputs), 2] if wide else at[len(path) + i, 0] for i in range(len(names))]
    (first, second), (autograd, wrapper, hand, *_), end = slots, calls, named[-1]
    steps = down(calls[1:])
    notes = [text(one.middle + 10, one.low + GAP / 2 + 4, str(4 + i), "it-note") for i, one in enumerate(calls[1:-1])]
    if wide:
        turn = autograd.low + GAP / 2 + 3
        steps += [*across([first, autograd]), *across([second, wrapper])]
        steps += arrow(
            second.middle, second.y, "down", "M", autograd.middle, autograd.low + 1, "V", turn, "H", second.middle
        )
        for slot, there, said in ((first, autograd, "1"), (second, wrapper, "3")):
            notes.append(text((slot.right + there.x) / 2, slot.level - 7, said, "it-note", "middle"))
        notes.append(text(first.right + 10, turn - 6, AGAIN, "it-note"))
        way = ["M", end.x - 1, end.level] if len(names) > 1 else ["M", end.middle, end.low + 1, "V", hand.level]
        leads = arrow(hand.right, hand.level, "left", *way)
        x, y, anchor = named[0].right, autograd.y + 14, "end"
        if inputs:
            leads = [
                shape
                for one, made in zip(named, calls)
                for shape in arrow(made.right, made.level, "left", "M", one.x - 1, made.level)
            ]
            y = end.low + 26
    else:
        steps += down([first, autograd]) + down([autograd, second]) + down([second, wrapper])
        for one, said in ((first, "1"), (autograd, AGAIN), (second, "3")):
            notes.append(text(one.middle + 10, one.low + GAP / 2 + 4, said, "it-note"))
        lane = ("M", end.right + 1, end.level, "H", end.right + LANE, "V", hand.level)
        leads = arrow(hand.right, hand.level, "left", *lane)
        if inputs:
            leads = [
                shape
                for one, made, out in zip(named, (wrapper, autograd), (LANE, 2 * LANE))
                for shape in arrow(
                    made.right, made.level, "left", "M", one.right + 1, one.level, "H", one.right + out, "V", made.level
                )
            ]
        x, y, anchor = MARGIN, end.low + 22, "start"
    legend = (*LEGEND[:2], READ_BY) if inputs else LEGEND
    notes += [text(x, y + 18 * i, said, "it-note", anchor) for i, said in enumerate(legend)]
    return [group("it-3", *([] if inputs else down(named)), *leads), group("it-1", *steps), *shapes, *notes]
