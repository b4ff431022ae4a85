"""Three kernels and a fallback to the CPU train the ten lines on a new device, which is written in Python alone."""

import re
from functools import partial

import torch
from torch import nn
from torch.utils import backend_registration
from torch.utils._pytree import tree_leaves, tree_map_only

backend_registration._setup_privateuseone_for_python_backend("toy")
aten, lib = torch.ops.aten, torch.library.Library("aten", "IMPL")
CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)


# --8<-- [start:memory]
def point(x, cpu):  # lets x, a tensor of the device, read the bytes of cpu
    at, whole = torch._C._construct_storage_from_data_pointer, cpu.untyped_storage()
    storage = at(whole.data_ptr(), torch.device("toy:0"), whole.nbytes())
    storage.memory = cpu  # keeps the bytes alive as long as the storage
    place = cpu.storage_offset(), cpu.shape, cpu.stride()
    return aten.set_.source_Storage_storage_offset.redispatch(CPU, x, storage, *place)


def wrap(cpu):
    return point(torch._C._acc.create_empty_tensor((0,), cpu.dtype), cpu)


def memory(x):  # the bytes of a tensor of the device, as a CPU tensor
    read = x.shape, x.stride(), x.storage_offset()
    return x if x.is_cpu else x.untyped_storage().memory.as_strided(*read)


# --8<-- [end:memory]
# --8<-- [start:own]
def empty(*size, dtype=None, **options):
    return wrap(torch.empty(*size, dtype=dtype))


def empty_strided(*size, dtype=None, **options):
    return wrap(torch.empty_strided(*size, dtype=dtype))


def copy(x, to, non_blocking=False):
    memory(to).copy_(memory(x))
    return to


OWN = {
    "empty.memory_format": empty,
    "empty_strided": empty_strided,
    "_copy_from": copy,
}
# --8<-- [end:own]


def fallback(op, *args, **kwargs):
    ours = {memory(x): x for x in tree_leaves((args, kwargs)) if torch.is_tensor(x)}
    args, kwargs = tree_map_only(torch.Tensor, {x: cpu for cpu, x in ours.items()}.get, (args, kwargs))
    out = op(*args, **kwargs)
    for cpu, x in ours.items():
        if x.shape != cpu.shape:  # the CPU kernel has resized an `out=`
            point(x, cpu)
    return tree_map_only(torch.Tensor, lambda cpu: ours[cpu] if cpu in ours else wrap(cpu), out)


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


def missing(error):  # the name of the operator that a message names, and the operator itself
    name = re.search(r"'aten::([\w.]+)'", str(error))[1]
    packet, _, overload = name.partition(".")
    return name, getattr(getattr(aten, packet), overload or "default")


# --8<-- [start:grow]
losses, names = [], []
while not losses:
    try:
        losses = list(train("toy"))
    except NotImplementedError as error:
        name, op = missing(error)
        lib.impl(name, OWN.get(name, partial(fallback, op)), "PrivateUse1")
        names.append(name)
# --8<-- [end:grow]
print(len(names), "operators were missing, in this order (* has its own kernel):")
for i in range(0, len(names), 3):
    print("  ", ", ".join(name + "*" * (name in OWN) for name in names[i : i + 3]))
on_cpu = list(train("cpu"))
for device, found in ("toy", losses), ("cpu", on_cpu):
    print(f"{device}: {len(found)} losses, from {found[0]:.4f} to {found[-1]:.4f}")
print("all losses equal:", losses == on_cpu)
assert losses == on_cpu and len(names) == 24 and set(OWN) <= set(names)
lib = torch.library.Library("aten", "IMPL")  # all kernels go with the old one
for name, kernel in OWN.items():
    lib.impl(name, kernel, "PrivateUse1")
others = torch.library.Library("_", "IMPL")  # one fallback does the same as 21
others.fallback(fallback, "PrivateUse1")
assert list(train("toy")) == on_cpu
a = torch.linspace(-1, 1, 6).view(2, 3)
for call in (torch.sin, torch.sort, torch.linalg.svdvals, torch.t, torch.diag, lambda x: x.cumsum(1), lambda x: x[1:]):
    for mine, theirs in zip(tree_leaves(call(a.to("toy"))), tree_leaves(call(a))):
        assert mine.device.type == "toy" and mine.stride() == theirs.stride() and torch.equal(mine.cpu(), theirs)
