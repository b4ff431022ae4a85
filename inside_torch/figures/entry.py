"""The figure of an operator's entry: what the yaml files say, what torchgen writes, and where the table has it."""

import re
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
GAP = 34  # between rows
LANE = 18  # beside a column: room for an arrow
AGAIN, CALLS = "2 calls again", "3"  # the call that arrives is step 1
LEGEND = "dashed border: written by torchgen", "dotted arrow: before any call", "solid arrow: a call at run time"


def yaml_path(name: str, *, title: str) -> str:
    """From the entries of aten's operator `name` in native_functions.yaml and derivatives.yaml, through what torchgen
    writes for them, to its dispatch table. Boxes with a dashed border are generated; the functions that the generated
    kernel calls are written by hand. Autograd's function calls the operator again, now for the kernel. Source: the yaml
    files and the generator of the wheel, the dispatcher's record of registrations, the headers in ATen/ops. Raises
    TypeError for what is no string, ValueError for an operator without an entry, a derivative or a CPU kernel, for a
    figure that is too wide, and where torchgen, the headers or the dispatcher disagree."""
    functions, derivatives, _ = _parsed()
    own = functions.get(checked(name, str, "name"))
    row = derivatives.get(name)
    if own is None or row is None:
        raise ValueError(f"{name} has no entry in {'native_functions' if own is None else 'derivatives'}.yaml")
    there = own.structured_delegate and str(own.structured_delegate)
    wrapper, kernel, hand = _generated(functions[there] if there else own, own)
    files = registered(f"aten::{name}")
    for key, pattern in FILES.items():
        if not re.fullmatch(pattern, files.get(key, "")):
            raise ValueError(f"the dispatcher has {files.get(key)} for {key}, and not a file {pattern}")
    formulas = row.get("dispatch", {}).get("Default", row)
    given = [key for key in formulas if key not in ("name", "result", "output_differentiability")]
    said = [f"{name}: {one}" for one in (f"see {there}",) if there] + [f"{there or name}:", f"CPU: {kernel}"]
    gradient = [
        ("derivatives.yaml", [f"{name}:", ", ".join(given)], "it-pill"),
        (files["AutogradCPU"], [f"VariableType::{name.replace('.', '_')}"], "it-pill it-dashed"),
        ("AutogradCPU", ["slot of the table:", "1 the call arrives"], "it-tab"),
    ]
    native = [
        ("native_functions.yaml", said, "it-pill"),
        (files["CPU"], [wrapper], "it-pill it-dashed"),
        ("CPU", ["slot of the table"], "it-tab"),
    ]
    written = ("written by hand", hand, "it-pill")
    every = (*gradient, *native, written)
    rows = [[head, " ".join(lines), "torchgen" * ("it-dashed" in kind)] for head, lines, kind in every]
    desc = f"{name}, from top to bottom. Autograd: {_chain(gradient)}. CPU: {_chain(native)}. "
    desc += f"{wrapper} calls {' and '.join(hand)}. {gradient[1][1][0]} calls {name} again, now for the key CPU."
    return laid_out(title, desc, ["box", "holds", "written by"], rows, _draw, gradient, native, written)


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


def _chain(boxes: list) -> str:
    return ", then ".join(f"{head} ({' '.join(lines)})" for head, lines, _ in boxes)


def _draw(gradient: list, native: list, written: tuple, wide: bool) -> list:
    """Two chains side by side, or on a phone below each other, joined by autograd's second call; right of the generated
    kernel, or below all, what it calls. On a phone these two ways run in lanes beside the boxes."""
    down_two = [[one] for one in (*gradient, *native, written)]
    rows = [list(row) for row in zip(gradient, native, (None, written, None))] if wide else down_two
    rows = [[one and Box([one[0], *one[1]], one[2], one[0]) for one in row] for row in rows]
    shapes, at = grid(rows, MARGIN + LANE * (not wide), apart=38, gap=GAP, pad=10)
    first, second = ([at[i, j] if wide else at[i + 3 * j, 0] for i in range(3)] for j in range(2))
    autograd, (_, kernel, slot), hand = first[1], second, at[1, 2] if wide else at[6, 0]
    if wide:
        lane = (autograd.right + kernel.x) / 2
        calls = across([kernel, hand])
        calls += arrow(slot.x, slot.level, "right", "M", autograd.right + 1, autograd.level, "H", lane, "V", slot.level)
        notes = [text((kernel.right + hand.x) / 2, kernel.level - 8, CALLS, "it-note", "middle")]
        notes.append(text(lane + 7, kernel.low + GAP / 2 + 4, AGAIN, "it-note"))
        x, y, anchor = hand.right, slot.level - 14, "end"
    else:
        left, right = kernel.x - LANE + 2, kernel.right + LANE
        calls = arrow(hand.x, hand.level, "right", "M", kernel.x - 1, kernel.level, "H", left, "V", hand.level)
        calls += arrow(
            slot.right, slot.level, "left", "M", autograd.right + 1, autograd.level, "H", right, "V", slot.level
        )
        notes = [text(left + 7, slot.low + GAP / 2 + 4, CALLS, "it-note")]
        notes.append(text(right - 7, second[0].y - GAP / 2 + 4, AGAIN, "it-note", "end"))
        x, y, anchor = hand.x, hand.low + 22, "start"
    for a, b, _ in (first, second):
        for place, said in ((a, "torchgen"), (b, "fills")):
            notes.append(text(place.middle + 10, place.low + GAP / 2 + 4, said, "it-note"))
    notes += [text(x, y + 18 * i, said, "it-note", anchor) for i, said in enumerate(LEGEND)]
    return [group("it-3", *down(first), *down(second)), group("it-1", *calls), *shapes, *notes]
