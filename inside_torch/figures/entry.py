"""The figure of an operator's entry: what the yaml files say, what torchgen writes, and where the table has it."""

import re
from functools import cache
from pathlib import Path

import torch
import torchgen

from .checks import checked
from .drawing import arrow, arrow_down, figure, group, text
from .keys import registered
from .layout import MARGIN, NARROW, PHONE, WIDE, stages

PACKAGED = Path(torchgen.__file__).parent / "packaged"
NATIVE = PACKAGED / "ATen" / "native"
FILES = {"AutogradCPU": r"VariableType_\d+\.cpp", "CPU": r"RegisterCPU_\d+\.cpp"}
GAP, APART = 34, 42  # between rows, between columns
LANE = 18  # beside a column: room for an arrow
AGAIN, LEGEND, RUN = "calls again", "dashed border: written by torchgen", "solid arrow: a call at run time"


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
        ("AutogradCPU", ["slot of the table"], "it-tab"),
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
    parts, columns = (gradient, native, written), ["box", "holds", "written by"]
    return figure(*_wide(*parts), title, desc, columns, rows, _narrow(*parts))


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


def _wide(gradient: list, native: list, written: tuple) -> tuple:
    """Two chains side by side, joined by autograd's second call, and right of the generated kernel what it calls."""
    rows = [list(row) for row in zip(gradient, native, (None, written, None))]
    boxes, ways, (one, two, (far, end)), edges = stages(rows, MARGIN, APART, GAP, 10)
    (_, top), (first, low), (last, bottom) = edges
    middles, right, y, slot = [sum(one) / 2, sum(two) / 2], two[1], (first + low) / 2, (last + bottom) / 2
    ways += [*arrow_down(middles[1], top + 1, first), *arrow_down(middles[1], low + 1, last)]
    calls = arrow(far, y, "right", "M", right + 1, y)
    lane = one[1] + APART / 2
    calls += arrow(two[0], slot, "right", "M", one[1] + 1, y, "H", lane, "V", slot)
    said = [(x + 10, at + GAP / 2 + 4, s) for x in middles for at, s in ((top, "torchgen"), (low, "fills"))]
    notes = [text(*one, "it-note") for one in (*said, (lane + 7, low + GAP / 2 + 4, AGAIN), (far, slot - 5, LEGEND))]
    notes += [text((right + far) / 2, y - 8, "calls", "it-note", "middle"), text(far, slot + 13, RUN, "it-note")]
    if end + MARGIN > WIDE:
        raise ValueError(f"the figure would be {end + MARGIN:.0f} px wide")
    drawn = group("it-large", group("it-3", *ways), group("it-1", *calls), *boxes, *notes)
    return [drawn], end + MARGIN, bottom + MARGIN


def _narrow(gradient: list, native: list, written: tuple) -> tuple:
    """The two chains below each other, and last what the generated kernel calls. A lane on the left leads there from
    the kernel, and one on the right from autograd's function to the slot."""
    boxes, ways, [(left, near)], edges = stages([[one] for one in gradient], MARGIN + LANE, 0, GAP, 10)
    more, down, [(_, end)], rest = stages([[one] for one in (*native, written)], MARGIN + LANE, 0, GAP, 10)
    shift, legend = edges[-1][1] + 20 - MARGIN, rest[-1][1] + 22
    again, (_, kernel, slot, hand) = sum(edges[1]) / 2 - shift, [sum(edge) / 2 for edge in rest]
    calls = arrow(left, hand, "right", "M", left - 1, kernel, "H", left - LANE + 2, "V", hand)
    right = max(near, end) + LANE
    calls += arrow(end, slot, "left", "M", near + 1, again, "H", right, "V", slot)
    said = [((left + near) / 2 + 10, low + GAP / 2 + 4, s) for (_, low), s in zip(edges, ("torchgen", "fills"))]
    notes = [text(near + 10, again + shift - 8, AGAIN, "it-note"), *(text(*one, "it-note") for one in said)]
    said = [((left + end) / 2 + 10, low + GAP / 2 + 4, s) for (_, low), s in zip(rest, ("torchgen", "fills"))]
    said += [(left - LANE + 9, rest[2][1] + GAP / 2 + 4, "calls"), (left, legend, LEGEND), (left, legend + 18, RUN)]
    below = [group("it-3", *down[:-2]), group("it-1", *calls), *more, *(text(*one, "it-note") for one in said)]
    if right + MARGIN > PHONE:
        raise ValueError(f"on a phone the figure would be {right + MARGIN:.0f} px wide")
    upper = group("it-large", group("it-3", *ways), *boxes, *notes)
    lower = group("it-large", *below, transform=f"translate(0 {shift})")
    return [upper, lower], NARROW + 2 * MARGIN, shift + legend + 26
