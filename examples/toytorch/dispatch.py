"""Which kernel runs: keys, the tables of operators, and calls (aten/src/ATen/core/dispatch/OperatorEntry.cpp)."""

import enum
import inspect
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace

ORDER = "CPU Meta SparseCPU BackendSelect Python ADInplaceOrView AutogradCPU AutogradMeta AutocastCPU".split()
DispatchKey = enum.IntEnum("DispatchKey", ORDER)  # the later in ORDER, the higher
BACKENDS, ABOVE, FALLTHROUGH = ORDER[:3], ORDER[3:], "fallthrough"
AUTOGRAD = {"AutogradCPU": "CPU", "AutogradMeta": "Meta"}  # key -> the backend below
ALIASES = {
    "CompositeExplicitAutogradNonFunctional": ["CPU", "Meta"],
    "CompositeExplicitAutograd": BACKENDS,
    "CompositeImplicitAutograd": [*BACKENDS, *AUTOGRAD],
    "Autograd": [*AUTOGRAD],
}


def DispatchKeySet(*names):
    """c10/core/DispatchKeySet.h, where a key is a bit of a number."""
    return frozenset(DispatchKey[name] for name in names)


tls = SimpleNamespace(included=DispatchKeySet("BackendSelect"), modes=[], grad_mode=True)


@contextmanager
def GradMode(mode):
    before, tls.grad_mode = tls.grad_mode, mode
    try:
        yield
    finally:
        tls.grad_mode = before


class Operator:
    """A name and kernels. A kernel gets the operator, the keys of the call, and the arguments."""

    fallbacks = dict.fromkeys(ABOVE, FALLTHROUGH)  # key -> the kernel of all operators

    def __init__(self, name, schema=None):
        self.name, self.short, self.inplace = name, name.removeprefix("aten::"), name.endswith("_")
        self.schema, self.kernels = schema and inspect.signature(schema), {}  # kernels by key, or by alias

    def entry(self, key):
        """Where the kernel for a key was registered, and the kernel. An operator with a kernel of its own has a formula
        of its own, so its composite does not serve Autograd."""
        own = key in AUTOGRAD and self.kernels.keys() & {AUTOGRAD[key], "CompositeExplicitAutograd"}
        for name, keys in {key: [key], **ALIASES}.items():
            if name in self.kernels and key in keys and not (own and name == "CompositeImplicitAutograd"):
                return name, self.kernels[name]
        return "fallback", self.fallbacks.get(key)

    def lookup(self, key):
        return self.entry(key.name)[1]

    # --8<-- [start:call]
    def call(self, keys, *args):
        """Run the kernel of the highest key that does not fall through."""
        left = (key for key in keys if self.lookup(key) != FALLTHROUGH)
        return self.redispatch(frozenset(left), *args)

    def redispatch(self, keys, *args):
        """A kernel above the backends calls this, with the keys below."""
        key = max(keys)
        if (kernel := self.lookup(key)) is None:
            call = f"'{self.name}' with arguments from the '{key.name}'"
            raise NotImplementedError(f"Could not run {call} backend.")
        return kernel(self, keys, *args)
        # --8<-- [end:call]

    def __call__(self, *args, **kwargs):
        """A call from Python: all arguments in the order of the schema, and the keys that the tensors bring."""
        names = [*self.schema.parameters]
        at = names.index("size") if "size" in names else len(args)
        if at < len(args) and not isinstance(args[at], (tuple, list)):
            args = (*args[:at], args[at:])  # x.view(2, 3) is x.view((2, 3))
        bound = self.schema.bind(*args, **kwargs)
        bound.apply_defaults()
        if "self" in names and not hasattr(bound.args[0], "key_set"):
            kind = type(bound.args[0]).__name__
            raise TypeError(f"{self.short}(): argument 'input' (position 1) must be Tensor, not {kind}")
        tensors = [arg for arg in bound.args if hasattr(arg, "key_set")]
        return self.call(tls.included.union(*(x.key_set for x in tensors)), *bound.args)

    def __get__(self, tensor, kind=None):
        """As a method: x.add is add with x as the first argument."""
        return self if tensor is None else partial(self, tensor)


aten = SimpleNamespace()  # the operators by name, as torch.ops.aten


def library(key, name=None, schema=None):
    """Registers a function of the arguments alone as a kernel, as torch.library.impl does."""

    def register(function):
        short = name or function.__name__
        operator = vars(aten).setdefault(short, Operator(f"aten::{short}", schema or function))
        operator.kernels[key] = lambda op, keys, *args: function(*args)
        return operator

    return register
