"""The memory of a training step as it runs: each allocation and free, and what the bytes alive are for."""

import weakref
from collections.abc import Callable, Iterable
from itertools import pairwise

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

KINDS = ("parameters", "optimizer state", "gradients", "batch", "activations", "temporaries")


def memory_rows(
    phases: dict[str, Callable], model: torch.nn.Module, optimizer: torch.optim.Optimizer, batch: tuple
) -> list:
    """A row [phase, change, bytes of each of the KINDS] at the start of the phases' second run and for each event of
    it. Raises ValueError where the kinds do not add up to what the allocator counts, where a block is left that is of
    no kind, and where what is held at the end is not what was allocated."""
    fake = any(isinstance(w, FakeTensor) for w in model.parameters())
    start, events, end = (_watched if fake else _profiled)(phases, model, optimizer, batch)
    if not events:
        raise ValueError("the phases allocate no memory of the CPU")
    alive, last = dict(start), {pointer: i for i, (_, pointer, *_) in enumerate(events)}
    rows = [[next(iter(phases)), "start", *_sums(alive)]]
    for i, (phase, pointer, size, _) in enumerate(events):
        if size > 0:
            made = "activations" if phase == "forward" else "temporaries"
            alive[pointer] = (end[pointer][0] if last[pointer] == i and pointer in end else made, size)
        elif alive.pop(pointer, (None, 0))[1] != -size:
            raise ValueError(f"{-size} bytes were freed that were not alive")
        rows.append([phase, f"{size:+}", *_sums(alive)])
    counted = [total for *_, total in events]
    for (row, after), (a, b) in zip(pairwise(rows), pairwise([counted[0] - events[0][2], *counted])):
        if sum(after[2:]) - sum(row[2:]) != b - a:
            raise ValueError(f"the kinds add up to {sum(after[2:]) - sum(row[2:])}, the allocator counts {b - a}")
    if rest := {p: block for p, block in alive.items() if p not in end and block[0] == "temporaries"}:
        raise ValueError(f"{sum(size for _, size in rest.values())} bytes of no kind are left at the end")
    if {p: block for p, block in alive.items() if p in end} != end:
        raise ValueError("what the model and the optimizer hold at the end is not what was allocated")
    return rows


def _watched(phases: dict, model, optimizer, batch: tuple) -> tuple:
    """What `_profiled` returns, for fake tensors: the storages that operators return, each with a number."""
    watch = _Watch()
    optimizer.zero_grad()
    with watch:
        for run in range(2):
            start = _held(model, optimizer, batch, watch.number)
            for name, call in phases.items():
                watch.phase = f"{run} {name}"
                call()
    watch.phase = "after"
    return _split(watch.events, start, _held(model, optimizer, batch, watch.number))


class _Watch(TorchDispatchMode):
    """Notes (phase, number of a storage, change in bytes, total in bytes) when an operator returns a storage for the
    first time and when that storage is freed."""

    def __init__(self) -> None:
        super().__init__()
        self.phase, self.total, self.events, self.numbers = "", 0, [], weakref.WeakKeyDictionary()
        self.count = 0

    def number(self, store: torch.UntypedStorage) -> int:
        if store not in self.numbers:
            self.count += 1
            self.numbers[store] = self.count
            weakref.finalize(store, self.note, self.count, -store.nbytes()).atexit = False
        return self.numbers[store]

    def note(self, number: int, change: int) -> None:
        self.total += change
        self.events.append((self.phase, number, change, self.total))

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for tensor in filter(torch.is_tensor, tree_leaves(out)):
            if (store := tensor.untyped_storage()) not in self.numbers:
                self.note(self.number(store), store.nbytes())
        return out


def _profiled(phases: dict, model, optimizer, batch: tuple) -> tuple:
    """Blocks {pointer: (kind, bytes)} at the start, (phase, pointer, change, total) of each event, blocks at the end.
    The tree of events is a private API of the profiler."""
    optimizer.zero_grad()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as ran:
        for run in range(2):
            start = _held(model, optimizer, batch)
            for name, call in phases.items():
                with record_function(f"{run} {name}"):
                    call()
    events = list(_allocations(ran.profiler.kineto_results.experimental_event_tree()))
    return _split(events, start, _held(model, optimizer, batch))


def _split(events: list, start: dict, end: dict) -> tuple:
    """Blocks at the start of the second run, events of this run, blocks at the end."""
    first = [event for event in events if event[0].startswith("0 ")]
    second = [(phase[2:], *rest) for phase, *rest in events if phase.startswith("1 ")]
    left = {pointer: change for _, pointer, change, _ in first}  # the last change of each pointer
    start |= {p: ("activations", size) for p, size in left.items() if size > 0 and p not in start}
    return start, second, end


def _allocations(events: Iterable, phase: str = ""):
    """(phase, pointer, change in bytes, total in bytes) of each allocation and free, in order."""
    for event in sorted(events, key=lambda event: event.start_time_ns):
        kind, fields = event.typed
        if kind.name == "Allocation":
            yield phase, fields.ptr, fields.alloc_size, fields.total_allocated
        else:
            yield from _allocations(event.children, phase or event.name)


def _held(model, optimizer, batch: tuple, key: Callable = torch.UntypedStorage.data_ptr) -> dict:
    """The storages of model, gradients, optimizer and batch: {key: (kind, bytes)}."""
    weights = list(model.parameters())
    tensors = [("parameters", w) for w in weights] + [("gradients", w.grad) for w in weights if w.grad is not None]
    tensors += [("optimizer state", t) for held in optimizer.state.values() for t in held.values()]
    stores = [(kind, t.untyped_storage()) for kind, t in [*tensors, *(("batch", t) for t in batch)]]
    return {key(store): (kind, store.nbytes()) for kind, store in stores}


def _sums(alive: dict) -> list:
    return [sum(size for kind, size in alive.values() if kind == one) for one in KINDS]
