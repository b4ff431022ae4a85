"""Pieces of the program that the lab gives, which steps through a call. The recording runs its classes as well."""

IMPORTS = """\
import re
import warnings

import torch
from torch.library import Library, get_kernel
"""
WRAPPED = """\
from torch.utils._pytree import tree_map_only


class Wrapped(torch.Tensor):
    def __new__(cls, t):
        return cls._make_wrapper_subclass(cls, t.shape, dtype=t.dtype)
    def __init__(self, t):
        self.t = t
    @classmethod
    def __torch_dispatch__(cls, f, types, args=(), kwargs=None):
        args = tree_map_only(Wrapped, lambda one: one.t, args)
        return f(*args, **kwargs or {})


"""
MODE = """\
from torch.utils._python_dispatch import TorchDispatchMode


class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, f, types, args=(), kwargs=None):
        return f(*args, **kwargs or {})


"""

KEYS = """\
C = torch._C
table = C._dispatch_dump_table("aten::OPERATOR")


def keys(x):
    found = C._dispatch_keys(x) | C._dispatch_tls_local_include_set()
    found -= C._dispatch_tls_local_exclude_set()
    for key in re.findall(r"\\w+", str(found))[:0:-1]:
        entry = re.search(rf"^{key}: (.*)", table, re.M)
        print(key, "|", entry[1] if entry else "no kernel")


"""
WATCH = """\
warnings.simplefilter("ignore", UserWarning)  # kernels are replaced
library, ran = Library("aten", "IMPL"), []


def watch(keys):
    for key in keys.split():
        kernel = get_kernel("aten::OPERATOR", key)
        def noted(keyset, *args, key=key, kernel=kernel, **options):
            ran.append(key)
            return kernel.call_boxed(keyset, *args, **options)
        library.impl("OPERATOR", noted, key, with_keyset=True)


"""
PEEK = """\
peek = torch.library.Library("peek", "DEF")
peek.define("keys(Tensor x) -> ()")
peek.impl("keys", keys, "FuncTorchBatched")


"""
CODE = {
    "imports": IMPORTS,
    "Wrapped": WRAPPED,
    "Mode": MODE,
    "keys": KEYS + WATCH,
    "peek": PEEK,
}  # pieces of the program that the lab gives
