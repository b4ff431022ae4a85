"""Which kernel runs: keys, the tables of operators, and calls (aten/src/ATen/core/dispatch/OperatorEntry.cpp)."""

import enum
import inspect
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace

ORDER = "CPU Meta SparseCPU BackendSelect Python ADInplaceOrView AutogradCPU AutogradMeta AutocastCPU".split()
DispatchKey = enum.IntEnum("DispatchKey", ORDER)  # the later in ORDER, the higher; SparseCPU and AutocastCPU lie idle
BACKENDS, ABOVE = ORDER[:3], ORDER[3:]
FALLTHROUGH, NO_KERNEL = "fallthrough", None  # instead of a kernel: the call skips the key; it is an error
AUTOGRAD = {"AutogradCPU": "CPU", "AutogradMeta": "Meta"}  # key -> the backend below
ALIASES = {  # name -> the keys it stands for; the first that has a kernel wins
    "CompositeExplicitAutogradNonFunctional": ["CPU", "Meta"],  # like SparseCPU, only to have tables as torch's
    "CompositeExplicitAutograd": BACKENDS,  # for what has a formula, as clone
    "CompositeImplicitAutograd": [*BACKENDS, *AUTOGRAD],  # for what is made of other operators, as zeros_like
    "Autograd": [*AUTOGRAD],
}


def DispatchKeySet(*names):  # c10/core/DispatchKeySet.h, where a key is a bit of a number
    return frozenset(DispatchKey[name] for name in names)


tls = SimpleNamespace(included=DispatchKeySet("BackendSelect"), modes=[], grad_mode=True)  # of our one thread


@contextmanager
def GradMode(enabled):
    before, tls.grad_mode = tls.grad_mode, enabled
    try:
        yield
    finally:
        tls.grad_mode = before


class Operator:
    """A name and kernels. A kernel gets the operator, the keys of the call, and the arguments."""

    fallbacks = dict.fromkeys(ABOVE, FALLTHROUGH)  # key -> the kernel of all operators that bring none

    def __init__(self, name):
        self.name, self.short, self.inplace = name, name.removeprefix("aten::"), name.endswith("_")
        self.kernels = {}  # by key, or by alias

    def entry(self, key):  # where the kernel for a key was registered, and the kernel
        if key in self.kernels:
            return key, self.kernels[key]
        # At AutogradCPU matmul runs its composite, which calls mm. mm has a kernel at CPU, so it gets the fallback.
        has_backend = key in AUTOGRAD and {AUTOGRAD[key], "CompositeExplicitAutograd"} & self.kernels.keys()
        for alias, keys in ALIASES.items():
            if has_backend and alias == "CompositeImplicitAutograd":
                continue
            if alias in self.kernels and key in keys:
                return alias, self.kernels[alias]
        return "fallback", self.fallbacks.get(key, NO_KERNEL)  # a backend has no fallback

    def call(self, keys, *args):
        """Run the kernel of the highest key that does not fall through. The comments follow x @ w: matmul calls mm."""
        remaining = frozenset(key for key in keys if self.entry(key.name)[1] != FALLTHROUGH)  # no BackendSelect
        return self.redispatch(remaining, *args)

    def redispatch(self, keys, *args):
        """A kernel above the backends calls this, with its own key taken out of the keys."""
        key = max(keys).name  # of matmul: AutogradCPU. Of mm: AutogradCPU, then ADInplaceOrView, then CPU
        _, kernel = self.entry(key)  # its composite. Of mm: variable_type, inplace_or_view, that of structured
        if kernel is NO_KERNEL:
            raise NotImplementedError(f"Could not run '{self.name}' with arguments from the '{key}' backend.")
        return kernel(self, keys, *args)

    def __call__(self, *args, **kwargs):  # from Python: arguments in the schema's order, and the keys of the tensors
        if "size" in self.schema.parameters:  # x.view(2, 3) is x.view((2, 3))
            at = [*self.schema.parameters].index("size")
            if args[at:] and all(isinstance(n, int) for n in args[at:]):
                args = (*args[:at], args[at:])
        bound = self.schema.bind(*args, **kwargs)
        bound.apply_defaults()
        keys = [arg.key_set for arg in bound.args if hasattr(arg, "key_set")]  # CPU, ADInplaceOrView, AutogradCPU
        if "self" in bound.arguments and not hasattr(bound.arguments["self"], "key_set"):
            raise TypeError(f"{self.short}(): argument 'input' (position 1) must be Tensor")
        return self.call(tls.included.union(*keys), *bound.args)  # with BackendSelect, which all calls get

    def __get__(self, tensor, kind=None):  # as a method: x.add is add with x as the first argument
        return self if tensor is None else partial(self, tensor)


aten = SimpleNamespace()  # the operators by name, as torch.ops.aten


def library(key, name=None):
    """Registers a function of the arguments alone as a kernel, as torch.library.impl does."""

    def register(function):
        short = name or function.__name__
        operator = vars(aten).setdefault(short, Operator(f"aten::{short}"))
        operator.schema = inspect.signature(function)  # of a function in @wraps, that of the one inside
        operator.kernels[key] = lambda op, keys, *args: function(*args)
        return operator

    return register
