"""Register kernels that note their names, call the operator, and compare the notes with the prediction."""

import contextlib
import itertools
import random

import torch
from check import compare
from torch._C import DispatchKey, _dispatch_keys, _dispatch_keyset_full_after
from torch._C import _dispatch_tls_local_exclude_set as excluded
from torch._C import _dispatch_tls_local_include_set as included

PLAIN = True
ORDER = ["AutocastCPU", "AutogradMeta", "AutogradCPU", "ADInplaceOrView", "BackendSelect", "SparseCPU", "Meta", "CPU"]
BACKEND_OF = {"AutogradCPU": "CPU", "AutogradMeta": "Meta"}
IMPLICIT, EXPLICIT = "CompositeImplicitAutograd", "CompositeExplicitAutograd"
# In the order in which they are registered. torch.library refuses Meta after the implicit kernel, and an explicit
# one after it leaves what the table holds for the autograd keys as it was.
NAMES = ("CPU", "Meta", "SparseCPU", "AutogradCPU", "AutocastCPU", "ADInplaceOrView", "Autograd", EXPLICIT, IMPLICIT)
PASS_ON = {"Autograd": DispatchKey.AutogradFunctionality}
PASS_ON |= {name: getattr(DispatchKey, name) for name in NAMES if name.startswith("A") and name != "Autograd"}
LIBRARY = torch.library.Library("exercise", "DEF")
NUMBERS = itertools.count()
X = torch.ones(2)
TENSORS = {"dense": X, "meta": X.to("meta"), "sparse": X.to_sparse()}
MODES = {"plain": contextlib.nullcontext, "autocast": lambda: torch.autocast("cpu"), "inference": torch.inference_mode}


class Keys(tuple):
    """A key set in alphabetical order, with the call that it belongs to."""


def situation(tensor, mode):
    with MODES[mode]():
        found = (_dispatch_keys(TENSORS[tensor]) | included()) - excluded()
    keys = Keys(sorted(name for name in ORDER if found.has(getattr(DispatchKey, name))))
    keys.tensor, keys.mode = tensor, mode
    return keys


def noting(op, name, ran):
    """A kernel that notes its name, and calls the operator again where such a kernel does."""

    def passing_on(keys, x):
        ran.append(name)
        return op.redispatch(keys & _dispatch_keyset_full_after(PASS_ON[name]), x)

    def ending(keys, x):
        ran.append(name)
        return torch.empty(0)

    return passing_on if name in PASS_ON else ending


def torchs(registered, keys):
    """What torch runs."""
    name, ran = f"f{next(NUMBERS)}", []
    LIBRARY.define(f"{name}(Tensor x) -> Tensor")
    op = getattr(torch.ops.exercise, name).default
    for key in sorted(registered, key=NAMES.index):
        LIBRARY.impl(name, noting(op, key, ran), key, with_keyset=True)
    try:
        with MODES[keys.mode]():
            op(TENSORS[keys.tensor])
    except NotImplementedError:
        ran.append("missing")
    return tuple(ran)


def rule(
    order=ORDER,
    alias_first=False,
    shadowed=False,
    passes_on=True,
    fills_autograd=False,
    sparse=False,
    explicit_last=False,
    math=True,
):
    """The rules of the dispatcher, wrong in what is given."""

    def entry(registered, key):
        autograd = key in BACKEND_OF
        backend = key in order[-3:]
        if key in registered:
            return key
        if explicit_last and backend and IMPLICIT in registered:
            return IMPLICIT
        if EXPLICIT in registered and (backend or (autograd and fills_autograd)):
            return EXPLICIT
        if alias_first and autograd and "Autograd" in registered:
            return "Autograd"
        has_backend = BACKEND_OF.get(key) in registered or EXPLICIT in registered
        has_backend |= sparse and "SparseCPU" in registered
        if ((math and autograd) or backend) and IMPLICIT in registered and (shadowed or not has_backend):
            return IMPLICIT
        return "Autograd" if autograd and "Autograd" in registered else None

    def kernels(registered, keys):
        ran = []
        for key in order:
            kernel = entry(registered, key) if key in keys else None
            if kernel:
                ran.append(kernel)
            if kernel and (key in order[-3:] or kernel.startswith("Composite") or not passes_on):
                return tuple(ran)
        return (*ran, "missing")

    return kernels


def with_key_only(registered, keys):
    return (*(key for key in ORDER if key in keys and key in registered),) or ("missing",)


SWAPPED = ["AutogradMeta", "AutogradCPU", "AutocastCPU", *ORDER[3:]]
IDEAS = {
    "You may have stopped too early. Your list has the first kernel only. A kernel for autocast, autograd or "
    "ADInplaceOrView does its part and calls the operator again with the keys behind its own. This goes on until a "
    "kernel computes the result.": rule(passes_on=False),
    "You may have thought that the Autograd kernel always comes first. The alias Autograd was asked before "
    "CompositeImplicitAutograd, but torch asks CompositeImplicitAutograd first. Where the backend has no kernel, "
    "the composite kernel fills the autograd key as well, and the Autograd kernel never runs.": rule(alias_first=True),
    "You may have let the composite kernel fill every autograd key. CompositeImplicitAutograd took an autograd key "
    "whose backend has a kernel of its own. That would hide the backend's kernel, so this key goes to Autograd, or "
    "is passed over.": rule(shadowed=True),
    "You may have thought that the two composite names mean the same. CompositeImplicitAutograd was put at the "
    "backends only. Implicit means that autograd needs no kernel of its own: the composite kernel already runs at "
    "the autograd key, and autograd records the operators inside it.": rule(math=False),
    "You may have thought that the two composite names mean the same. CompositeExplicitAutograd took an autograd "
    "key, but it stands in for kernels of backends only. Explicit means that the gradient has to be registered "
    "explicitly.": rule(fills_autograd=True),
    "You may have exchanged the two composite names. At a backend key, CompositeImplicitAutograd was preferred to "
    "CompositeExplicitAutograd. The explicit kernel counts as a kernel of every backend, and where a backend has a "
    "kernel, the implicit one is not used.": rule(explicit_last=True),
    "You may have thought that the autograd key of a sparse tensor belongs to SparseCPU. A dense and a sparse "
    "tensor share the key AutogradCPU, and which kernel this key holds depends on the kernel for CPU, not on the "
    "one for SparseCPU. So a composite kernel hides the sparse one.": rule(sparse=True),
    "You may have exchanged autocast and autograd. Autograd was asked before autocast. Autocast comes first, so "
    "that autograd records the operations in the dtype in which they run.": rule(SWAPPED),
    "You may have left out the aliases. Only kernels under the very keys of the call are in your list. Autograd "
    "stands in at autograd keys, CompositeExplicitAutograd at backends, and CompositeImplicitAutograd at "
    "both.": with_key_only,
}


def cases(draw):
    calls = [situation(tensor, mode) for tensor in TENSORS for mode in MODES]
    for registered in (("CPU", "Autograd"), (IMPLICIT,), ("Autograd", IMPLICIT), ("CPU", "Autograd", IMPLICIT)):
        yield registered, calls[0]
    for _ in range(400):
        some = draw.sample(NAMES, draw.randint(0, 5))
        yield tuple(sorted(some)), draw.choice(calls)


def check(work):
    otherwise = (
        "For each key of the call, in ORDER, find what the table holds: first the kernel under the key itself, then "
        "CompositeExplicitAutograd, CompositeImplicitAutograd and Autograd, each where it may stand in."
    )
    compare("kernels", cases(random.Random(0)), work.kernels, torchs, IDEAS, otherwise)
