"""Which kernels run in a call: a function is put in front of each kernel, and notes it while the call runs."""

import re
import warnings
from collections.abc import Callable

import torch
from torch.library import Library, get_kernel

from .keys import ENTRY

ABOVE = """FuncTorchDynamicLayerFrontMode FuncTorchGradWrapper FuncTorchBatched AutocastCPU AutogradMeta AutogradCPU
    ADInplaceOrView FuncTorchDynamicLayerBackMode BackendSelect""".split()
BACKENDS = ("SparseCPU", "Meta", "CPU")


def noted(call: Callable) -> list:
    """The kernels that run in a call as (key, operator), in their order. The profiler finds the operators, and then
    the call runs again, with a function in front of each of their kernels."""
    with warnings.catch_warnings(), torch.autograd.profiler.profile() as seen:
        warnings.simplefilter("ignore")
        call()
    called = {event.name for event in seen.function_events}
    library, ran, inside = Library("aten", "IMPL"), [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a kernel is replaced, until the library is destroyed
        for name in torch._C._dispatch_get_all_op_names():
            if name.startswith("aten::") and name.split(".")[0] in called:
                _note(library, name, ran, inside)
        try:
            call()
        finally:
            library._destroy()
    return ran


def _note(library: Library, name: str, ran: list, inside: list) -> None:
    """Puts a function in front of each kernel of an operator. Numbers that it gets for tensors become tensors again."""
    schema = torch._C._get_schema(*(name.split(".") if "." in name else (name, "")))
    tensors = [str(argument.type) == "Tensor" for argument in schema.arguments]
    table = torch._C._dispatch_dump_table(name)
    keys = [one["key"] for one in ENTRY.finditer(table) if not one["falls"] and one["key"] in (*ABOVE, *BACKENDS)]
    if re.search(r"^Meta: .*\[math kernel\]$", table, re.M):
        keys.remove("Meta")  # torch refuses a kernel for Meta where the operator is made of others
    kernels = {key: get_kernel(name, key) for key in keys}  # all, before one that is put in changes what others are
    for key, kernel in kernels.items():

        def instead(keyset, *args, key=key, kernel=kernel, **options):
            ran.extend([] if inside else [(key, name.removeprefix("aten::").split(".")[0])])
            inside.extend([key] if key in BACKENDS else [])
            args = [torch.tensor(a) if t and isinstance(a, int | float) else a for a, t in zip(args, tensors)]
            try:
                return kernel.call_boxed(keyset, *args, **options)
            finally:
                del inside[-1 if key in BACKENDS else len(inside) :]

        library.impl(name, instead, key, with_keyset=True)


def in_order(columns: list) -> list:
    """The keys of all calls in an order that each of them keeps; where none tells, the highest first."""
    order, left = [], sorted({key for column in columns for key in column}, key=_rank)
    while left:
        later = {key for column in columns for key in [one for one in column if one in left][1:]}
        if not (free := [key for key in left if key not in later]):
            raise ValueError(f"the calls reach {left} in different orders")
        order.append(left.pop(left.index(free[0])))
    return order


def _rank(key: str) -> tuple:
    """The place of a key in the dispatcher's order: how many kinds of keys stand above it."""
    keys, passed, parsed = torch._C._dispatch_keyset_full(), 0, torch._C._dispatch_key_parse(key)
    while keys.has(parsed):
        keys, passed = keys.remove(keys.highestPriorityTypeId()), passed + 1
    return passed, key
