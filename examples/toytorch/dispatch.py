"""Which kernel runs: keys, the tables of operators, and calls (aten/src/ATen/core/dispatch/OperatorEntry.cpp)."""

import enum
import inspect
from contextlib import contextmanager
from types import SimpleNamespace

# --8<-- [start:keys]
FALLTHROUGH = "fallthrough"
BACKENDS = ("SparseCPU", "Meta", "CPU")
AUTOGRAD = {"AutogradMeta": "Meta", "AutogradCPU": "CPU"}
ABOVE = ("AutocastCPU", *AUTOGRAD, "ADInplaceOrView", "Python")
ORDER = (*ABOVE, "BackendSelect", *BACKENDS)  # the highest key first
ALIASES = {
    "CompositeExplicitAutogradNonFunctional": ("Meta", "CPU"),
    "CompositeExplicitAutograd": BACKENDS,
    "CompositeImplicitAutograd": (*BACKENDS, *AUTOGRAD),
    "Autograd": tuple(AUTOGRAD),
}
# --8<-- [end:keys]
DispatchKey = enum.IntEnum("DispatchKey", ORDER[::-1])


def key_set(*names):
    """A DispatchKeySet (c10/core/DispatchKeySet.h), which torch packs into the bits of a number."""
    return frozenset(DispatchKey[name] for name in names)


tls = SimpleNamespace(included=key_set("BackendSelect"), modes=[], grad_mode=True)


@contextmanager
def GradMode(mode):
    before, tls.grad_mode = tls.grad_mode, mode
    try:
        yield
    finally:
        tls.grad_mode = before


# --8<-- [start:table]
class Operator:
    fallbacks = dict.fromkeys(ORDER[: -len(BACKENDS)], FALLTHROUGH)

    def __init__(self, name, schema=None):
        self.name, self.kernels, self.table = name, {}, {}
        self.schema = schema and inspect.signature(schema)

    def impl(self, key, kernel):
        self.kernels[key] = kernel  # the key may be an alias
        self.table.clear()

    def entry(self, key):
        """Where the kernel for a key was registered, and the kernel."""
        if key in self.kernels:
            return key, self.kernels[key]
        own = {"CompositeExplicitAutograd", AUTOGRAD.get(key)} & set(self.kernels)
        for alias, keys in ALIASES.items():
            steps_back = own and alias == "CompositeImplicitAutograd"
            if alias in self.kernels and key in keys and not steps_back:
                return alias, self.kernels[alias]
        return "fallback", self.fallbacks.get(key)
        # --8<-- [end:table]

    def lookup(self, key):
        if key not in self.table:
            self.table[key] = self.entry(key.name)[1]
        return self.table[key]

    # --8<-- [start:call]
    def call(self, keys, *args):
        """Run the kernel of the highest key that does not fall through."""
        return self.redispatch(frozenset(key for key in keys if self.lookup(key) != FALLTHROUGH), *args)

    def redispatch(self, keys, *args):
        """A kernel above the backends calls this, with the keys below."""
        kernel = self.lookup(max(keys))
        if kernel is None:
            said = f"Could not run '{self.name}' with arguments from the "
            raise NotImplementedError(f"{said}'{max(keys).name}' backend.")
        return kernel(self, keys, *args)
        # --8<-- [end:call]

    def __call__(self, *args, **kwargs):
        """A call from Python: all arguments in the order of the schema, and the keys that the tensors bring."""
        bound = self.schema.bind(*args, **kwargs)
        bound.apply_defaults()
        tensors = [arg for arg in bound.args if hasattr(arg, "key_set")]
        if "self" in bound.arguments and not hasattr(bound.args[0], "key_set"):
            said = f"argument 'input' (position 1) must be Tensor, not {type(bound.args[0]).__name__}"
            raise TypeError(f"{self.name[6:]}(): {said}")
        return self.call(tls.included.union(*(x.key_set for x in tensors)), *bound.args)


aten = SimpleNamespace()  # the operators by name, as torch.ops.aten


def library(key, name=None, schema=None):
    """Registers a function as a kernel, as torch.library.impl does."""

    def register(function):
        short = name or function.__name__
        operator = vars(aten).setdefault(short, Operator(f"aten::{short}", schema or function))
        operator.impl(key, lambda op, keys, *args: function(*args))
        return operator

    return register
