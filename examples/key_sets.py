"""A dispatcher's key set is one integer: a bit for each backend and each functionality, and the highest bit wins."""

from itertools import product

import torch
from torch.utils._python_dispatch import TorchDispatchMode

NAMES = """
    CPU CUDA Meta Dense Sparse BackendSelect Python Conjugate
    ADInplaceOrView Autograd AutocastCPU PythonTLSSnapshot
""".split()
BACKENDS = 0b111
PER_BACKEND = {"Dense": "", "Sparse": "Sparse", "Autograd": "Autograd"}


def bits(*names):
    return sum(1 << NAMES.index(name) for name in names)


def keys_of(x):
    keys = bits("Sparse" if x.is_sparse else "Dense")
    keys |= bits("Meta") if x.is_meta else bits("CPU", "AutocastCPU")
    keys |= bits("Conjugate") if x.is_conj() else 0
    return keys | (0 if x.is_inference() else bits("ADInplaceOrView", "Autograd"))


def taken(tensors, include, exclude):
    """The highest key of a call, fallthroughs not skipped."""
    keys = 0
    for x in tensors:
        keys |= keys_of(x)
    keys = (keys | include) & ~exclude
    name = NAMES[keys.bit_length() - 1]
    if name not in PER_BACKEND:
        return name
    return PER_BACKEND[name] + NAMES[(keys & BACKENDS).bit_length() - 1]


def taken_by_torch(tensors):
    keys = torch._C._dispatch_tls_local_include_set()
    for x in tensors:
        keys = keys | torch._C._dispatch_keys(x)
    return (keys - torch._C._dispatch_tls_local_exclude_set()).highestPriorityTypeId().name


INCLUDE, EXCLUDE = bits("BackendSelect", "ADInplaceOrView"), bits("AutocastCPU")
MODES = {
    "no_grad": (torch.no_grad, INCLUDE, EXCLUDE),
    "inference_mode": (torch.inference_mode, bits("BackendSelect"), EXCLUDE | bits("Autograd")),
    "autocast": (lambda: torch.autocast("cpu"), INCLUDE, 0),
    "dispatch mode": (TorchDispatchMode, INCLUDE | bits("Python", "PythonTLSSnapshot"), EXCLUDE),
}
dense = torch.ones(2, 2)
with torch.inference_mode():
    inference = torch.ones(2, 2)
tensors = {
    "dense": dense,
    "parameter": torch.nn.Parameter(dense),
    "meta": dense.to("meta"),
    "sparse": dense.to_sparse(),
    "conjugated": torch.ones(2, 2, dtype=torch.complex64).conj(),
    "inference": inference,
}
compared = 0
for mode, include, exclude in MODES.values():
    for pair in product(tensors.values(), repeat=2):
        with mode():
            expected = taken_by_torch(pair)
        assert taken(pair, include, exclude) == expected, (pair, expected)
        compared += 1
for mode, (_, include, exclude) in MODES.items():
    said = [taken([tensors[name]], include, exclude) for name in ("dense", "meta", "inference")]
    print(f"{mode:15}" + "".join(f"{one:19}" for one in said).rstrip())
print("calls compared with torch:", compared)
assert compared == len(MODES) * len(tensors) ** 2
