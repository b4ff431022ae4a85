"""Calls of operators on tensors of several kinds, with what ran in them: for the lab that steps through a call."""

import re
from collections import Counter

import torch
from torch.autograd.profiler import profile
from torch.library import Library

from inside_torch.figures.noted import put_before

from .dispatch_kinds import within
from .dispatch_used import operator

MOST = 5  # operators that are named where a kernel calls many


def outcome(name: str, kind: str, text: str, size: str) -> list[str]:
    """Of a call: the operators that its kernels call, and the error that it ends with."""
    error, names = "", torch._C._profiler._ExperimentalConfig(capture_overload_names=True)
    seen = profile(experimental_config=names)

    def body(made: dict) -> None:
        nonlocal error
        try:
            with seen:
                eval(f"f({text})", made | {"f": operator(name)})
        except Exception as raised:
            said = re.split(r"\. |\n|, but got|This could", str(raised))[0].strip(" .")[:120]
            error = f"{type(raised).__name__}: {said}".replace(f"aten::{name}'", "aten::{}'")

    within(kind, body, size)
    return [inner(name, kind, seen), error]


def inner(name: str, kind: str, seen: profile) -> str:
    """The operators that a call calls itself, with how often. For one inside vmap those of the call that vmap makes
    again; for one under autocast both, with a bar between, where autocast's kernel calls the operator again."""
    events = [e for e in seen.kineto_results.events() if e.name().startswith("aten::")]
    events = sorted(events, key=lambda e: (e.start_ns(), -e.duration_ns()))
    spans = [
        (e.start_ns(), e.end_ns(), e.name()[6:] + "." * bool(e.overload_name()) + e.overload_name()) for e in events
    ]
    again = next((place for place in within_first(spans) if spans[place][2] == name), 0)
    if kind == "vmap":
        return counted(spans[again:])
    return counted(spans) + (f"|{counted(spans[again:])}" if kind == "autocast" and again else "")


def within_first(spans: list) -> list[int]:
    """The places of the spans that lie in the first one and in no other."""
    found, after = [], spans[0][0] if spans else 0
    for place, (begins, ends, _) in enumerate(spans[1:], 1):
        if after <= begins and ends <= spans[0][1]:
            found.append(place)
            after = ends
    return found


def counted(spans: list) -> str:
    """The names of what the first span calls itself."""
    names = Counter(spans[place][2] for place in within_first(spans))
    said = [f"{one} \N{MULTIPLICATION SIGN}{n}" if n > 1 else one for one, n in names.items()]
    return ", ".join(said[:MOST]) + (f" and {len(said) - MOST} others" if len(said) > MOST else "")


def goes_on(key: str, entry: str) -> bool:
    """Whether a kernel of this key calls its operator again, with the same arguments or with converted ones."""
    own = {"FuncTorchDynamicLayerFrontMode": "backend fallback", "ADInplaceOrView": "kernel", "BackendSelect": "kernel"}
    own |= {"PythonTLSSnapshot": "backend fallback", "AutocastCPU": "kernel"}
    return entry == "autograd kernel" or own.get(key) == entry


def noted(name: str, kind: str, text: str, size: str, entries: dict) -> list[str]:
    """The keys of the operator's own kernels that run in a call, in their order: a function stands in front of each.
    What other kernels than those that go on call is a call of its own, and left out."""
    library, ran = Library("aten", "IMPL"), []
    composite = torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", "CompositeImplicitAutograd")
    keys = [key for key, one in entries.items() if not one[3] and not (key == "Meta" and composite)]
    ends = lambda key: not goes_on(key, entries[key][0])  # noqa: E731
    put_before(library, {name: keys}, lambda _, key, *__: ran.append(key), ends)
    try:
        within(kind, lambda made: (ran.clear(), eval(f"f({text})", made | {"f": operator(name)})), size)
    except Exception:  # a call that torch refuses, with whatever error: the kernels that ran before it count
        pass
    finally:
        library._destroy()
    return ran
