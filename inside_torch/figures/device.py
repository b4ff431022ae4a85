"""A device in Python, the one of examples/python_backend.py in short, for figures of what its operators are asked."""

from functools import partial

import torch
from torch.utils import backend_registration
from torch.utils._pytree import tree_leaves, tree_map_only

aten = torch.ops.aten
CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)


def set_up(name: str, served: list) -> tuple:
    """Make the device `name` in this process; `served` gets (operator, "own" or "fallback") for each call on it, by the
    dispatcher's name. Returns the libraries, which have to stay alive. Private torch APIs throughout: a process has one
    such device, and a second one raises RuntimeError."""
    backend_registration._setup_privateuseone_for_python_backend(name)
    own, others = torch.library.Library("aten", "IMPL"), torch.library.Library("_", "IMPL")

    def noted(operator, kind, kernel, *args, **kwargs):
        served.append((operator.removeprefix("aten::"), kind))
        return kernel(*args, **kwargs)

    for operator, kernel in _own(name).items():
        own.impl(operator, partial(noted, operator, "own", kernel), "PrivateUse1")
    others.fallback(lambda op, *a, **k: noted(op.name(), "fallback", _fallback, op, *a, **k), "PrivateUse1")
    return own, others


def _own(name: str) -> dict:
    """The kernels that no fallback can replace, and relu; their outputs are on the device `name`."""
    wrap = partial(_wrap, torch.device(name, 0))
    return {
        "empty.memory_format": lambda size, dtype=None, **_: wrap(torch.empty(size, dtype=dtype)),
        "empty_strided": lambda size, stride, dtype=None, **_: wrap(torch.empty_strided(size, stride, dtype=dtype)),
        "_copy_from": _copy,
        "view": partial(aten.view.default.redispatch, CPU),
        "as_strided": partial(aten.as_strided.default.redispatch, CPU),
        "relu": lambda x: wrap(_memory(x).clamp(min=0)),
    }


def _wrap(device: torch.device, cpu: torch.Tensor) -> torch.Tensor:
    """A tensor of the device over the bytes of a CPU tensor."""
    size = cpu.untyped_storage().nbytes()
    storage = torch._C._construct_storage_from_data_pointer(cpu.data_ptr(), device, size)
    storage.memory = cpu
    x, set_ = torch._C._acc.create_empty_tensor((0,), cpu.dtype), aten.set_.source_Storage_storage_offset
    return set_.redispatch(CPU, x, storage, 0, cpu.shape, cpu.stride())


def _memory(x: torch.Tensor) -> torch.Tensor:
    """The bytes of a tensor of the device as a CPU tensor."""
    place = x.shape, x.stride(), x.storage_offset()
    return x if x.is_cpu else x.untyped_storage().memory.as_strided(*place)


def _copy(x: torch.Tensor, to: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    _memory(to).copy_(_memory(x))
    return to


def _fallback(op, *args, **kwargs):
    """Run the CPU's kernel of an operator on the bytes of the device."""
    ours = {_memory(x): x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)}
    twin = {x: cpu for cpu, x in ours.items()}
    device = next(iter(ours.values())).device
    args, kwargs = tree_map_only(torch.Tensor, twin.get, (args, kwargs))
    out = op(*args, **kwargs)
    return tree_map_only(torch.Tensor, lambda cpu: ours[cpu] if cpu in ours else _wrap(device, cpu), out)
