"""A dispatcher in plain Python fills its tables and picks kernels as torch's does, for every operator of torch."""

import re

import torch

# --8<-- [start:keys]
FALLTHROUGH = "fallthrough"
AUTOGRAD = {"AutogradMeta": "Meta", "AutogradCPU": "CPU"}
BACKENDS = ("SparseCPU", "Meta", "CPU")
ORDER = ("AutocastCPU", *AUTOGRAD, "ADInplaceOrView", "BackendSelect", *BACKENDS)
ALIASES = {
    "CompositeExplicitAutogradNonFunctional": ("Meta", "CPU"),
    "CompositeExplicitAutograd": BACKENDS,
    "CompositeImplicitAutograd": (*BACKENDS, *AUTOGRAD),
    "Autograd": tuple(AUTOGRAD),
}
FALLBACKS = {}  # key -> the kernel of operators that have none
# --8<-- [end:keys]


# --8<-- [start:table]
class Operator:
    def __init__(self, name):
        self.name, self.kernels = name, {}  # key or alias -> kernel

    def entry(self, key):
        """Where the kernel for a key was registered, and the kernel."""
        if key in self.kernels:
            return key, self.kernels[key]
        own = {"CompositeExplicitAutograd", AUTOGRAD.get(key)} & set(self.kernels)
        for alias, keys in ALIASES.items():
            implicit = alias == "CompositeImplicitAutograd"
            if alias in self.kernels and key in keys and not (implicit and own):
                return alias, self.kernels[alias]
        return "fallback", FALLBACKS.get(key)
        # --8<-- [end:table]

    # --8<-- [start:call]
    def call(self, keys, ran):
        """Run the kernel of the highest key that does not fall through."""
        asked = (key for key in ORDER if key in keys)
        key = next(key for key in asked if self.entry(key)[1] != FALLTHROUGH)
        kernel = self.entry(key)[1]
        if kernel is None:
            raise NotImplementedError(f"Could not run {self.name} on {key}")
        ran.append(key)
        lower = {k for k in keys if ORDER.index(k) > ORDER.index(key)}
        kernel(self, lower, ran)
        # --8<-- [end:call]


def layer(operator, lower, ran):
    """Kernels for keys above the backends call the operator again."""
    operator.call(lower, ran)


def last(operator, lower, ran):
    """Other kernels compute, or call other operators."""


def lines(text):
    """What torch says of an operator: key -> its words in brackets, and whether it falls through."""
    found = re.findall(r"^(\w+)(?:\[alias\])?: (.*) \[ ?(.+?) ?\]$", text, re.M)
    return {key: (words, FALLTHROUGH in said + words) for key, said, words in found}


FALLBACKS |= dict.fromkeys(ORDER[:5], FALLTHROUGH) | dict.fromkeys(AUTOGRAD, layer) | {"Meta": last}
kinds = ["default backend kernel"] * 2 + ["math kernel", "autograd kernel", "backend fallback"]
kinds = dict(zip([*ALIASES, "fallback"], kinds))
operators, tables = {}, {}
for name in (name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")):
    one = operators[name] = Operator(name)
    tables[name] = lines(torch._C._dispatch_dump_table(name))
    for key, (_, falls) in lines(torch._C._dispatch_dump(name)).items():
        one.kernels[key] = FALLTHROUGH if falls else layer if key in (*ORDER[:5], "Autograd") else last
    for key, (under, kernel) in ((key, one.entry(key)) for key in ORDER):
        ours = kernel and (kinds.get(under, "kernel"), kernel == FALLTHROUGH)
        assert tables[name].get(key) == ours, (name, key, ours)
print(f"tables of {len(tables)} operators, {len(ORDER)} keys each: as in torch")


# --8<-- [start:walk]
def picked(name, keys):
    """The keys whose kernels run, in their order."""
    operators[f"aten::{name}"].call(keys, ran := [])
    return ran


x = torch.rand(2, 2)
kinds = {"dense": x, "meta": x.to("meta"), "sparse": x.to_sparse()}
for kind, tensor in kinds.items():
    keys = {key for key in ORDER if torch._C._dispatch_keys(tensor).has(torch._C.DispatchKey.__members__[key])}
    print(f"{kind:7} relu:", *picked("relu", keys - {"AutocastCPU"}), " mm in autocast:", *picked("mm", keys))
# --8<-- [end:walk]
