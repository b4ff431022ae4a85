"""The figure of a new backend: a program on a new device, line by line, with who served each operator. The device is
that of examples/python_backend.py in short."""

from collections import Counter
from collections.abc import Callable, Generator
from functools import partial

import torch
from torch.utils import backend_registration
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

from inside_torch.drawing.layout import MARGIN
from inside_torch.drawing.svg import text

from .boxes import Box, column, grid, laid_out
from .keys import entries

aten = torch.ops.aten
CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
KINDS = {"composite": "PyTorch's composite", "own": "kernel of its own", "fallback": "CPU fallback"}
TONES = {"composite": "it-3", "own": "it-1", "fallback": "it-2"}
Program = Callable[[str], Generator[str, None, torch.Tensor]]


class _Composed(TorchDispatchMode):
    """The operators called with or for a tensor of one device that PyTorch composes of others: their names."""

    def __init__(self, device: str):
        super().__init__()
        self.device, self.seen = device, []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        tensors = [one for one in tree_leaves((args, kwargs, out)) if isinstance(one, torch.Tensor)]
        entry = entries(func.name()).get("PrivateUse1")
        if (
            entry
            and entry["kind"] == "default backend kernel"
            and any(one.device.type == self.device for one in tensors)
        ):
            self.seen.append(func.overloadpacket.__name__)
        return out


def served(program: Program, device: str, *, title: str) -> str:
    """`program(device)` on a new device of this name, made for this figure, and `program("cpu")`. A program yields the
    text of each line after it has run, and returns a tensor. Below each line are its operators in three columns: those
    that PyTorch composes of others for any device, those for which the device has a kernel, those that it leaves to the
    CPU, each with the number of calls. Raises ValueError for a program without lines, for names that do not fit, and
    when the device computes something else than the CPU."""
    keep = set_up(device, asked := [])
    lines, ours = _run(program(device), device, asked)
    if not lines:
        raise ValueError("the program has no lines")
    if not torch.equal(ours.cpu(), _run(program("cpu"), device, [])[1]):
        raise ValueError(f"{device} computes something else than the CPU")
    total = {kind: len({name for _, cells in lines for name in cells[kind]}) for kind in KINDS}
    rows = [[line, KINDS[kind], name, n] for line, cells in lines for kind in KINDS for name, n in cells[kind].items()]
    desc = "For each line of the program its operators, by who served them. " + " ".join(
        f"{line}: {'; '.join(f'{KINDS[kind]}: {_said(cells[kind])}' for kind in KINDS)}." for line, cells in lines
    )
    del keep
    columns = ["line", "served by", "operator", "calls"]
    return laid_out(title, desc, columns, rows, _below_lines, lines, total)


def _run(steps: Generator, device: str, asked: list) -> tuple:
    """What each line asked for, as (line, {kind: Counter of operators}), and what the program returns."""
    lines = []
    with _Composed(device) as composed:
        while True:
            del asked[:], composed.seen[:]
            try:
                line = next(steps)
            except StopIteration as end:
                return lines, end.value
            cells = {kind: Counter(name for name, by in asked if by == kind) for kind in KINDS}
            lines.append((line, {**cells, "composite": Counter(composed.seen)}))


def _said(cell: Counter) -> str:
    return ", ".join(_names(cell)) or "none"


def _names(cell: Counter) -> list:
    return [f"{name}\u00a0\u00d7{n}" if n > 1 else name for name, n in cell.items()]


def _below_lines(lines: list, total: dict, wide: bool) -> list:
    """Below each line a box for each kind that served it."""
    heads = [_box([f"{KINDS[kind]}: {n}"], kind)._replace(bold=f"{KINDS[kind]}: {n}") for kind, n in total.items()]
    said = _names if wide else lambda cell: [_said(cell)]
    rows = [[_box(said(cells[kind]), kind) if cells[kind] else None for kind in KINDS] for _, cells in lines]
    flow = partial(grid, apart=4, even=False) if wide else column
    shapes, places = flow([heads, *rows], gap=36, pad=14)
    tops = {i: place.y for (i, _), place in reversed(places.items())}
    return [*shapes, *(text(MARGIN, tops[i] - 8, line, "it-name") for i, (line, _) in enumerate(lines, 1) if i in tops)]


def _box(lines: list, kind: str) -> Box:
    return Box(lines, "it-element", "", TONES[kind], "start")


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
    """The kernels that no fallback can replace; their outputs are on the device `name`."""
    wrap = partial(_wrap, torch.device(name, 0))
    return {
        "empty.memory_format": lambda size, dtype=None, **_: wrap(torch.empty(size, dtype=dtype)),
        "empty_strided": lambda size, stride, dtype=None, **_: wrap(torch.empty_strided(size, stride, dtype=dtype)),
        "_copy_from": _copy,
    }


def _wrap(device: torch.device, cpu: torch.Tensor) -> torch.Tensor:
    """A tensor of the device over the bytes of a CPU tensor."""
    whole = cpu.untyped_storage()
    storage = torch._C._construct_storage_from_data_pointer(whole.data_ptr(), device, whole.nbytes())
    storage.memory = cpu
    x, set_ = torch._C._acc.create_empty_tensor((0,), cpu.dtype), aten.set_.source_Storage_storage_offset
    return set_.redispatch(CPU, x, storage, cpu.storage_offset(), cpu.shape, cpu.stride())


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
