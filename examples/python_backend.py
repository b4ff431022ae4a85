"""Twenty-four operators make the ten lines train on a new device, which is written in Python alone."""

import re
from functools import partial

import numpy as np
import torch
from torch import nn
from torch.utils import backend_registration
from torch.utils._pytree import tree_leaves, tree_map_only

backend_registration._setup_privateuseone_for_python_backend("toy")
aten, lib = torch.ops.aten, torch.library.Library("aten", "IMPL")
CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)


def point(x, cpu):
    """Let x, a tensor of the device, read the bytes of a CPU tensor."""
    new = torch._C._construct_storage_from_data_pointer
    size = cpu.untyped_storage().nbytes()
    storage = new(cpu.data_ptr(), torch.device("toy:0"), size)
    storage.memory = cpu  # keeps the bytes alive as long as the storage
    set_ = aten.set_.source_Storage_storage_offset
    return set_.redispatch(CPU, x, storage, 0, cpu.shape, cpu.stride())


def wrap(cpu):
    return point(torch._C._acc.create_empty_tensor((0,), cpu.dtype), cpu)


def memory(x):
    """The bytes of a tensor of the device, as a CPU tensor."""
    place = x.shape, x.stride(), x.storage_offset()
    return x if x.is_cpu else x.untyped_storage().memory.as_strided(*place)


def make(creator, *sizes, dtype=None, **options):
    return wrap(creator(*sizes, dtype=dtype))


# --8<-- [start:own]
def copy(x, to, non_blocking=False):
    memory(to).copy_(memory(x))
    return to


def relu(x):
    return wrap(torch.from_numpy(np.maximum(memory(x).numpy(), 0)))


OWN = {
    "empty.memory_format": partial(make, torch.empty),
    "empty_strided": partial(make, torch.empty_strided),
    "_copy_from": copy,
    "view": partial(aten.view.default.redispatch, CPU),
    "as_strided": partial(aten.as_strided.default.redispatch, CPU),
    "relu": relu,
}
# --8<-- [end:own]


def fallback(op, *args, **kwargs):
    tensors = [x for x in tree_leaves((args, kwargs)) if torch.is_tensor(x)]
    ours = {memory(x): x for x in tensors}
    twin = {x: cpu for cpu, x in ours.items()}
    args, kwargs = tree_map_only(torch.Tensor, twin.get, (args, kwargs))
    out = op(*args, **kwargs)
    for cpu, x in ours.items():
        if x.shape != cpu.shape:  # the CPU kernel has resized an `out=`
            point(x, cpu)
    back = lambda cpu: ours[cpu] if cpu in ours else wrap(cpu)  # noqa: E731
    return tree_map_only(torch.Tensor, back, out)


def train(device):
    torch.manual_seed(0)
    x, target = torch.randn(8, 3), torch.randint(2, (8,))
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    x, target, model = x.to(device), target.to(device), model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(100):
        loss = nn.functional.cross_entropy(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def named(error):
    """The operator that a message names: its name, and the operator itself."""
    name = re.search(r"'aten::([\w.]+)'", str(error))[1]
    packet, _, overload = name.partition(".")
    return name, getattr(getattr(aten, packet), overload or "default")


# --8<-- [start:grow]
losses, missing = [], []
while not losses:
    try:
        losses = list(train("toy"))
    except NotImplementedError as error:
        name, op = named(error)
        lib.impl(name, OWN.get(name, partial(fallback, op)), "PrivateUse1")
        missing.append(name)
# --8<-- [end:grow]
print(len(missing), "operators were missing, in this order (* has its own kernel):")
for i in range(0, len(missing), 3):
    print("  ", ", ".join(name + "*" * (name in OWN) for name in missing[i : i + 3]))
on_cpu = list(train("cpu"))
for device, found in ("toy", losses), ("cpu", on_cpu):
    print(f"{device}: {len(found)} losses, from {found[0]:.4f} to {found[-1]:.4f}")
print("all losses equal:", losses == on_cpu)
assert losses == on_cpu and len(missing) == 24 and set(OWN) <= set(missing)
others = torch.library.Library("_", "IMPL")  # it has to stay alive: without it the fallback is gone
others.fallback(fallback, "PrivateUse1")
a = torch.linspace(-1, 1, 6).view(2, 3)
for function in (torch.sin, torch.sort, torch.linalg.svdvals, torch.t, torch.diag, lambda x: x.cumsum(1)):
    for mine, theirs in zip(tree_leaves(function(a.to("toy"))), tree_leaves(function(a))):
        assert mine.device.type == "toy" and mine.stride() == theirs.stride() and torch.equal(mine.cpu(), theirs)
