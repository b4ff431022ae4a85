"""The dispatcher of toytorch fills its tables and picks kernels as torch's does, for every operator of torch."""

import re

import torch
from toytorch.dispatch import ABOVE, ALIASES, FALLTHROUGH, ORDER, DispatchKeySet, Operator


def layer(operator, keys, ran):
    """Kernels for keys above the backends call the operator again."""
    ran.append(max(keys).name)
    operator.redispatch(keys - {max(keys)}, ran)


def last(operator, keys, ran):
    """Other kernels compute, or call other operators."""
    ran.append(max(keys).name)


def lines(text):
    """What torch says of an operator: key -> its words in brackets, and whether it falls through."""
    found = re.findall(r"^(\w+)(?:\[alias\])?: (.*) \[ ?(.+?) ?\]$", text, re.M)
    return {key: (words, FALLTHROUGH in said + words) for key, said, words in found}


class TorchOperator(Operator):
    layers = dict.fromkeys(("AutogradMeta", "AutogradCPU", "Python"), layer)
    fallbacks = dict.fromkeys(ABOVE, FALLTHROUGH) | layers | {"Meta": last}


kinds = ["default backend kernel"] * 2 + ["math kernel", "autograd kernel", "backend fallback"]
kinds = dict(zip([*ALIASES, "fallback"], kinds))
operators, tables = {}, {}
for name in (name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")):
    one = operators[name] = TorchOperator(name)
    tables[name] = lines(torch._C._dispatch_dump_table(name))
    for key, (_, falls) in lines(torch._C._dispatch_dump(name)).items():
        above = key in (*ABOVE, "Autograd")
        one.kernels[key] = FALLTHROUGH if falls else layer if above else last
    for key, (under, kernel) in ((key, one.entry(key)) for key in ORDER):
        ours = kernel and (kinds.get(under, "kernel"), kernel == FALLTHROUGH)
        assert tables[name].get(key) == ours, (name, key, ours, tables[name].get(key))
print(f"tables of {len(tables)} operators, {len(ORDER)} keys each: as in torch")


def picked(name, keys):
    """The keys whose kernels run, in their order."""
    operators[f"aten::{name}"].call(DispatchKeySet(*keys), ran := [])
    return ran


x = torch.rand(2, 2)
kinds = {"dense": x, "meta": x.to("meta"), "sparse": x.to_sparse()}
for kind, tensor in kinds.items():
    keys = {key for key in ORDER if torch._C._dispatch_keys(tensor).has(torch._C.DispatchKey.__members__[key])}
    print(f"{kind:7} relu:", *picked("relu", keys - {"AutocastCPU"}), " mm in autocast:", *picked("mm", keys))
