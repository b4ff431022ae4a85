"""The figure of a module's attributes: which of them an optimizer, a checkpoint, a conversion and `eval()` reach."""

from itertools import groupby
from operator import itemgetter

import torch
from torch import nn

from inside_torch.drawing.checks import checked

from .boxes import laid_out, tally

OBSERVERS = ("optimizer", "checkpoint", "to()", "eval()")
MOST = 16  # more attributes do not fit a page


def who_sees(module: nn.Module, *, title: str, observers: tuple = OBSERVERS) -> str:
    """A row for each attribute of `module` that holds tensors or modules, and whether four observers reach it: an
    optimizer given `parameters()`, a checkpoint of `state_dict()`, a conversion by `to()`, and `eval()`. The module
    itself is asked, and is left as it was. A dash stands where a question has no answer, as for the mode of a tensor.
    The figure shows the answers of `observers`, in their order.
    Raises TypeError for what is no module, ValueError for none or more than 16 attributes, for a registered one that
    another hides, and where an observer reaches another tensor of that name, or not all of what an attribute holds."""
    held = _attributes(checked(module, nn.Module, "module"))
    if not 1 <= len(held) <= MOST:
        raise ValueError(f"the module has {len(held)} attributes to draw, and 1 to {MOST} can be drawn")
    chosen = [OBSERVERS.index(one) for one in observers]
    asked = [(kind, name, _answers(module, *_held(value, name))) for kind, name, value in held]
    rows = [[kind, name, *(seen[i] for i in chosen)] for kind, name, seen in asked]
    said = [f"{n} ({kind}): {', '.join(f'{o} {s}' for o, s in zip(observers, seen) if s)}." for kind, n, *seen in rows]
    shown = [line for kind, same in groupby(rows, itemgetter(0)) for line in ([kind], *(row[1:] for row in same))]
    heads = ["kind", "attribute", *observers]
    return laid_out(title, " ".join(said), heads, rows, tally, observers, shown, (36, 36), kind="it-1 it-large")


def _attributes(module: nn.Module) -> list:
    """(kind, name, value) of each attribute that holds a tensor or a module, the registered ones first."""
    found = []
    kinds = {"parameters": module._parameters, "buffers": module._buffers, "submodules": module._modules}
    for kind, registered in kinds.items():
        for name, value in registered.items():
            if getattr(module, name) is not value:
                raise ValueError(f"another attribute hides {name!r}, one of the {kind}")
            found += [(kind, name, value)] if value is not None else []
    own = {name: value for name, value in vars(module).items() if not name.startswith("_") and any(_held(value, name))}
    return found + [("other attributes", name, value) for name, value in own.items()]


def _held(value, path: str) -> tuple:
    """The tensor that a value is, or the parameters of the modules in it, by path; and those modules."""
    if isinstance(value, torch.Tensor):
        return {path: value}, []
    if isinstance(value, nn.Module):
        return {f"{path}.{name}": p for name, p in value.named_parameters()}, list(value.modules())
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    tensors, modules = {}, []
    for key, item in items:
        inner, within = _held(item, f"{path}.{key}")
        tensors, modules = tensors | inner, modules + within
    return tensors, modules


def _answers(module: nn.Module, tensors: dict, modules: list) -> list:
    """Yes, no or nothing from each observer about these tensors and modules."""
    saved, converted = module.state_dict(), []
    module._apply(lambda tensor: converted.append(tensor) or tensor)  # what to() is made of; this one changes nothing
    for path in tensors.keys() & saved.keys():
        if not saved[path].is_set_to(tensors[path].detach()):
            raise ValueError(f"state_dict() holds another tensor as {path!r}")
    seen = [
        [any(tensor is p for p in module.parameters()) for tensor in tensors.values()],
        [path in saved for path in tensors],
        [any(tensor is one for one in converted) for tensor in tensors.values()],
        [any(one is other for other in module.modules()) for one in modules],
    ]
    for observer, found in zip(OBSERVERS, seen):
        if any(found) and not all(found):
            raise ValueError(f"{observer} reaches only a part of {list(tensors)}")
    return ["yes" if any(found) else "no" if found else "" for found in seen]
