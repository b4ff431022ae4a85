"""Pack and unpack tensors of all kinds, count the bytes that are held, and train a step of a network."""

import gc

import torch
from check import Wrong, tensor
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.multiprocessing.reductions import StorageWeakRef

SMALLEST = "a tensor of 64 elements"


def memory_in(kept, seen=None):
    """Address and bytes of all memory in what pack returned, however nested; a few numbers are free."""
    seen = set() if seen is None else seen
    if id(kept) in seen:
        return
    seen.add(id(kept))
    if isinstance(kept, torch.Tensor):
        storage = kept.untyped_storage()
        yield storage.data_ptr(), storage.nbytes()
        return
    if isinstance(kept, bytes | bytearray):
        yield id(kept), len(kept)
        return
    if isinstance(kept, list | tuple) and len(kept) > 16:
        yield id(kept), 8 * len(kept)
    inside = kept.values() if isinstance(kept, dict) else kept
    if not isinstance(inside, list | tuple | set | type({}.values())):
        yield id(kept), getattr(kept, "nbytes", 0)
        inside = getattr(kept, "__dict__", {}).values()
    for value in list(inside):
        yield from memory_in(value, seen)


def bytes_in(kept):
    return sum(dict(memory_in(kept)).values())


def activations():
    """Tensors to be compressed, each made anew, with a name."""
    torch.manual_seed(0)
    yield "random numbers", torch.randn(16, 32)
    yield "rows of 1, 10, 100, ... times random numbers", torch.randn(6, 40) * torch.logspace(0, 5, 6)[:, None]
    yield "the result of a relu", torch.randn(16, 32).relu()
    yield "numbers close to 0 beside a large one", torch.cat([torch.full((4, 31), 1e-4), torch.ones(4, 1)], 1)
    yield "a tensor with a row of zeros", torch.randn(5, 40) * torch.tensor([1, 0, 1, 1, 0.0])[:, None]
    yield "a transposed matrix", torch.randn(32, 16).t()
    yield "float64", torch.randn(8, 16, dtype=torch.float64)
    yield "bfloat16", torch.randn(8, 16).bfloat16()
    yield "a vector", torch.randn(100)
    yield "three dimensions", torch.randn(4, 5, 16) * torch.logspace(0, 4, 5)[:, None]
    yield SMALLEST, torch.randn(4, 16)


def others(parameters):
    """Tensors to be kept as they are."""
    yield "labels", torch.arange(100)
    yield "a mask", torch.arange(100) % 3 == 0
    yield "63 elements", torch.randn(63)
    yield "a parameter", parameters[0]
    yield "the transpose of a parameter, as linear saves it", parameters[0].t()


def check_bytes(pack, name, held):
    """Pack the one tensor in `held`, which is its only owner."""
    t = held.pop()
    allowed = t.numel() + 8 * (t.numel() // t.shape[-1])
    original, size = StorageWeakRef(t.untyped_storage()), t.nbytes
    kept = pack(t)
    del t
    if name == SMALLEST and not original.expired():
        raise Wrong(
            f"{name} was kept as it is. Compression begins at 64 elements, so this tensor is the smallest "
            "that is to be compressed."
        )
    if not original.expired():
        raise Wrong(
            f"the original of {name}, {size} bytes, is still alive after pack has returned and the caller has let "
            "go: what pack returned holds it, or a list or a dict of yours. So no memory was saved. You may have kept "
            "the original beside the packed value."
        )
    if (packed := bytes_in(kept)) > allowed:
        half = packed < 2 * allowed and packed >= size // 2
        idea = (
            "You may have used float16 or bfloat16. Two bytes an element are half of float32, not a quarter. "
            if half
            else ""
        )
        raise Wrong(
            f"{name}: pack made {packed} bytes of {size}. Allowed are {allowed}, one byte for each element and 8 for "
            f"each row. {idea}A view counts with its whole storage."
        )
    return kept


def check_values(name, before, after):
    if tensor(after).shape != before.shape:
        raise Wrong(f"{name}: unpack gave the shape {after.shape} for a tensor of shape {before.shape}")
    if after.dtype != before.dtype:
        raise Wrong(
            f"{name} came back as {after.dtype}. You may have returned the dtype of the scale. Backward needs the "
            "tensor in the dtype in which it was saved, so pack has to note it."
        )
    if after.isnan().any():
        raise Wrong(
            f"{name}: NaN came back. You may have divided by 0. In a row of zeros the largest magnitude is 0, and 0 "
            "/ 0 is NaN. Choose another divisor there."
        )
    parts = 2 if before.dtype == torch.bfloat16 else 1
    limit = before.abs().amax(-1, keepdim=True).double() * parts / 127
    error = (after.double() - before.double()).abs()
    off = error > limit * (1 if parts == 2 else 1.01) + 1e-12
    if off.any():
        largest = before.abs().max().double() / 127
        at = tuple(off.nonzero()[0].tolist())
        idea = ""
        if before[at] * after[at] < 0:
            idea = (
                "You may have rounded to 128. The sign has turned, because 128 wraps around to -128 in int8. In "
                "bfloat16 the scale itself may be rounded down, and then the largest element comes to more than 127 "
                "steps. Clamp the steps."
            )
        elif before.dim() > 2 and (error <= before.abs().flatten(1).amax(1)[:, None, None].double() / 127).all():
            idea = (
                "You may have counted rows along the first dimension. One scale for each index of the first "
                "dimension is too few: a row lies along the last dimension, so a tensor of shape (4, 5, 16) has 20 "
                "rows."
            )
        elif (error <= largest).all() and before.dim() > 1:
            idea = (
                "You may have computed a single scale. One scale for the whole tensor lets its largest row decide "
                "the steps of all other rows. Compute a scale for each row."
            )
        raise Wrong(
            f"{name}: the element {at} was {before[at]:.6g} and came back as {after[at]:.6g}. It may be off by "
            f"{limit[(*at[:-1], 0)]:.6g}, {'two 127ths' if parts == 2 else 'a 127th'} of the largest magnitude in its "
            f"row.\n{idea}"
        )
    if (after[before == 0] != 0).any():
        raise Wrong(
            f"{name}: a 0 came back as another number. You may have started the steps at the smallest number. The "
            "node of relu passes the gradient where its saved result is greater than 0, so 0 has to stay 0: count "
            "the steps from 0."
        )
    if (after[before != 0] == 0).any():
        raise Wrong(
            f"{name}: {before[(before != 0) & (after == 0)][0]:.6g} was rounded to 0. You may have thought that a "
            "number this small does not matter. The node of relu passes a gradient where its saved result is "
            "greater than 0, so a gradient would be lost. Round such a number to one step, not to 0."
        )


def check_kept(pack, unpack, name, t):
    after = tensor(unpack(pack(t)))
    exact = after.dtype == t.dtype and torch.equal(after, t)
    if not exact and "parameter" not in name:
        raise Wrong(
            f"{name} did not come back exactly. You may have rounded everything. Rounding is for floating-point "
            "activations: a label that is off by one is another label, and small tensors are not worth it."
        )
    if not exact or after.untyped_storage().data_ptr() != t.untyped_storage().data_ptr():
        raise Wrong(
            f"{name} came back from other memory. You may have packed a copy. The tensor is in memory anyway, or it "
            "is small, so a copy only costs memory. To recognize a parameter, compare the address of the tensor's "
            "storage with those of the parameters' storages."
        )


def check_version(pack, unpack, parameter):
    for name, t in (("63 elements", torch.randn(63)), ("a parameter", parameter.detach())):
        kept = pack(t)
        t.add_(1)
        try:
            unpack(kept)
        except RuntimeError:
            continue
        raise Wrong(
            f"{name}: the check wrote into the tensor after pack, and unpack returned the new numbers without a "
            "word. You may have thought that autograd still compares versions. With hooks it does not: pack has to "
            "note the `_version` of what it keeps as it is."
        )


def check_life(pack, unpack):
    gc.collect()
    gc.disable()
    try:
        x = torch.ones(8, requires_grad=True)
        with saved_tensors_hooks(pack, unpack):
            y = x.exp()
        alive = StorageWeakRef(y.untyped_storage())
        del y
        if not alive.expired():
            raise Wrong(
                "You may have kept t itself. The check deleted y = x.exp(), but its memory is not free: the node of "
                "y holds what pack returned, the packed value holds y, and y holds its node. Such a cycle waits for "
                "the garbage collector. Keep t.detach(): the same memory and the same version, without the node."
            )
    finally:
        gc.enable()


def check_network(work):
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 5))
    x, labels, parameters = torch.randn(16, 32), torch.arange(16) % 5, list(net.parameters())
    exact = torch.autograd.grad(nn.functional.cross_entropy(net(x), labels), parameters)
    with saved_tensors_hooks(*work.hooks(parameters)):
        loss = nn.functional.cross_entropy(net(x), labels)
    for number, (grad, right) in enumerate(zip(torch.autograd.grad(loss, parameters), exact)):
        distance = (grad - right).norm() / right.norm()
        if not distance < 0.05:
            raise Wrong(
                f"the gradient of parameter {number} of a small network is off by {distance:.1%}. Rounding the "
                "activations may cost 5 percent."
            )


def check(work):
    parameters = [torch.nn.Parameter(torch.randn(16, 16)), torch.nn.Parameter(torch.randn(16))]
    pack, unpack = work.hooks(parameters)
    for name, t in activations():
        before, held = t.clone(), [t]
        del t
        check_values(name, before, unpack(check_bytes(pack, name, held)))
    for name, t in others(parameters):
        check_kept(pack, unpack, name, t)
    check_version(pack, unpack, parameters[0])
    check_life(pack, unpack)
    check_network(work)
