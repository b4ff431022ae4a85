"""The kinds of tensors of the lab that steps through a call, each with the key sets of a call on it."""

from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from typing import Any

import torch
from torch.library import Library

from .dispatch_program import MODE, WRAPPED

# A kind of tensor: how it is said, how the tensor is made of t, and what is around the call. Run as it stands here, by
# the recording and by the program that the lab gives.
KINDS = {
    "plain": ("a plain tensor", "t", "nullcontext()"),
    "grad": ("a tensor that requires grad", "t.requires_grad_() if t.is_floating_point() else t", "nullcontext()"),
    "inference": ("a plain tensor in inference mode", "t", "torch.inference_mode()"),
    "autocast": ("a plain tensor under autocast", "t", 'torch.autocast("cpu")'),
    "meta": ("a meta tensor", 't.to("meta")', "nullcontext()"),
    "sparse": ("a sparse tensor", "t.to_sparse()", "nullcontext()"),
    "subclass": ("a wrapper subclass", "Wrapped(t)", "nullcontext()"),
    "vmap": ("a tensor inside vmap", "t", "vmap"),
    "mode": ("a plain tensor in a dispatch mode", "t", "Mode()"),
}


@cache
def space() -> dict:
    """What the programs of the lab have to hand."""
    made: dict = {"torch": torch, "nullcontext": nullcontext}
    exec(WRAPPED + MODE, made)
    return made


def within(kind: str, body: Callable[[dict], Any], size: str = "2, 2") -> Any:
    """Calls `body` with x and i of this kind, inside what is around this kind of call."""
    _, tensor, around = KINDS[kind]
    values = {name: eval(f"torch.ones({size}){more}") for name, more in (("x", ""), ("i", ".long()"))}
    made = space() | {name: eval(tensor, space() | {"t": value}) for name, value in values.items()}
    if around == "vmap":
        return torch.func.vmap(lambda x: [body(made | {"x": x}), x][1])(torch.stack([made["x"]] * 3))
    with eval(around, made):
        return body(made)


def key_sets(kind: str) -> list:
    """The keys of a call on this kind of tensor, the highest first, as (key, who brings it, whether it is in the set);
    inside vmap there are those of the call and those that its first kernel calls again with."""
    if kind != "vmap":
        return [within(kind, lambda made: key_set(made["x"]))]
    found, library = [], Library("dispatch_stepper", "DEF")
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: found.append(key_set(x)) or x.clone(), "FuncTorchBatched")
    body = lambda made: (found.append(key_set(made["x"])), torch.ops.dispatch_stepper.f(made["x"]))[1]  # noqa: E731
    within(kind, body)
    library._destroy()
    return found


def key_set(tensor: torch.Tensor) -> list:
    own, included = torch._C._dispatch_keys(tensor), torch._C._dispatch_tls_local_include_set()
    left, keys, rows = (own | included) - torch._C._dispatch_tls_local_exclude_set(), own | included, []
    while (key := keys.highestPriorityTypeId()) != torch._C.DispatchKey.Undefined:
        rows.append([key.name, "tensor" * own.has(key) + "thread" * included.has(key), int(left.has(key))])
        keys = keys.remove(key)
    return rows
