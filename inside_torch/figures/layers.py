"""The figure of one function through all layers, drawn from what a run of each of them recorded."""

import re
import warnings
from collections.abc import Callable
from textwrap import wrap

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from inside_torch.drawing.checks import checked
from inside_torch.drawing.layout import MARGIN
from inside_torch.drawing.svg import arrow_down, group, text

from .boxes import Box, column, grid, laid_out
from .graph import explore

LABEL = 94  # px for the names of layers
LONGEST = 66  # characters of a line
MOST = 6  # more operations do not fit a page
BY_HAND = ("Python", "operators")  # layers that no program wrote
STARTS = ("Python", "Dynamo", "AOT backward")  # layers to which nothing above leads
KERNEL = re.compile(r"\b(?:cpp_fused_\w+|extern_kernels\.\w+)(?=\()")


class Functions(TorchFunctionMode):
    """What `note` says of each function of torch that is called from Python and of its arguments, else its name."""

    def __init__(self, seen: list, note: Callable | None = None):
        super().__init__()
        self.seen, self.note = seen, note or (lambda func, args: func.__name__)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(self.note(func, args))
        return func(*args, **(kwargs or {}))


class Operators(TorchDispatchMode):
    """What `note` says of each operator that gets below autograd and of its arguments, else the operator."""

    def __init__(self, seen: list, note: Callable | None = None):
        super().__init__()
        self.seen, self.note = seen, note or (lambda func, args: func)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(self.note(func, args))
        return func(*args, **(kwargs or {}))


class Calls(Functions):
    """Each call of torch from Python: its name, the nodes that it left, the operators below autograd."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        with Operators(operators := []):
            out = func(*args, **(kwargs or {}))
        left = explore(out)[0] if getattr(out, "grad_fn", None) else []
        known = [node for _, nodes, _ in self.seen for node in nodes]
        own = [node for node in left if node not in known and not hasattr(node, "variable")]
        self.seen.append((func.__name__, own[::-1], operators))
        return out


def copied(inputs: tuple) -> list:
    """Copies of tensors, which need gradients where the tensors do. Raises TypeError for anything else."""
    inputs = [checked(one, torch.Tensor, "each of the inputs") for one in inputs]
    return [one.detach().clone().requires_grad_(one.requires_grad) for one in inputs]


def line_layers(f, *inputs: torch.Tensor, title: str) -> str:
    """`f(*inputs)` through all layers: a column for each call of torch, a row for each layer, a box for what the layer
    holds of that call; boxes of generated things are dashed. The kernels that Inductor calls span all columns. On a
    phone a layer is one box, with a line for each call. The inputs are not changed, and get no gradients. Raises
    TypeError for inputs that are no tensors, ValueError for a result without gradient or of more than one element, for
    more than 6 calls, and where a layer's operations can't be told apart by call."""
    layers = _eager(f, copied(inputs)) + compiled_layers(f, copied(inputs))
    for name, cells in layers:
        if len(cells) not in (1, len(layers[0][1])):
            raise ValueError(f"{name} has {len(cells)} operations for {len(layers[0][1])} calls")
    said = [f"{name}: {' | '.join(', '.join(cell) or 'nothing' for cell in cells)}." for name, cells in layers]
    desc = "A column for each call, from top to bottom. " + " ".join(said)
    rows = [[name, ", ".join(cell), "generated" * (name not in BY_HAND)] for name, cells in layers for cell in cells]
    heads = ["layer", "holds", "made by a program"]
    return laid_out(title, desc, heads, rows, _draw, layers, kind="")


def _eager(f, inputs: list) -> list:
    """The layers that a plain call of f passes: (name, for each call of torch a list of what the layer holds)."""
    with Calls(calls := []):
        y = f(*inputs)
    if not (isinstance(y, torch.Tensor) and y.numel() == 1 and y.requires_grad):
        raise ValueError("f must return one number that needs a gradient")
    if not 1 <= len(calls) <= MOST:
        raise ValueError(f"f makes {len(calls)} calls of torch, and 1 to {MOST} can be drawn")
    names, nodes, operators = zip(*calls)
    autograd = [[node.name() for node in own] for own in nodes]
    below = [[operator.overloadpacket.__name__ for operator in own] for own in operators]
    return [("Python", [[name] for name in names]), ("autograd", autograd), ("operators", below)]


def compiled_layers(f, inputs: list) -> list:
    """The layers of torch.compile: Dynamo's graph, both of AOTAutograd's, Inductor's kernels for each (one list)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Inductor imports a part of torch that is deprecated
        from torch._inductor.compile_fx import compile_fx, compile_fx_inner
        from torch._inductor.utils import run_fw_bw_and_get_code

    captured, graphs = [], []

    def keep(graph, example_inputs, **settings):
        graphs.append(_by_call(graph, captured))
        return compile_fx_inner(graph, example_inputs, **settings)

    def backend(graph, example_inputs):
        captured.extend(node for node in graph.graph.nodes if node.op.startswith("call"))
        return compile_fx(graph, example_inputs, inner_compile=keep)

    compiled = torch.compile(f, backend=backend, fullgraph=True)
    with torch._functorch.config.patch(enable_autograd_cache=False):  # a hit would show no graphs
        _, codes = run_fw_bw_and_get_code(lambda: compiled(*inputs))
    layers = [("Dynamo", [[getattr(node.target, "__name__", node.target)] for node in captured])]
    for way, graph, code in zip(["AOT forward", "AOT backward"], graphs, codes, strict=True):
        layers += [(way, graph), ("Inductor", [KERNEL.findall(code)])]
    return layers


def _by_call(graph, captured: list) -> list:
    """The operators of one of AOTAutograd's graphs, by the node of Dynamo's graph that they come from: each under the
    name that it had before it was decomposed, once; what a pass of Inductor added comes from none and is left out."""
    calls, cells = [node.meta["source_fn_stack"][-1][0] for node in captured], [[] for _ in captured]
    for node in (node for node in graph.graph.nodes if node.op == "call_function"):
        source = node.meta.get("source_fn_stack") or node.meta.get("fwd_source_fn_stack") or [(None, None)]
        if source[-1][0] in calls:
            cells[calls.index(source[-1][0])].append(node.meta["original_aten"].overloadpacket.__name__)
    return [list(dict.fromkeys(cell)) for cell in cells]


def _draw(layers: list, wide: bool) -> list:
    """A row for each layer; on a phone one box, in which the calls follow each other, numbered."""
    rows = []
    for name, cells in layers:
        kind = "it-pill" if name in BY_HAND else "it-pill it-dashed"
        if not wide:
            said = [f"{i} {', '.join(cell) or 'nothing'}" for i, cell in enumerate(cells, 1)]
            cells = [said if len(cells) > 1 else cells[0]]
        broken = [[line for one in cell for line in _lines(one, LONGEST if wide else 38)] for cell in cells]
        boxes = [Box(lines, kind, anchor="middle" if wide else "start") if lines else None for lines in broken]
        rows.append(boxes if any(boxes) else [Box(["nothing"], "")])
    if not wide:
        shapes, places = column(rows, MARGIN + 22, 30)
        names = [text(MARGIN, places[i, 0].y - 7, name, "it-note") for i, (name, _) in enumerate(layers)]
        return [group("it-large", *shapes, *names)]
    starts = [i for i, (name, _) in enumerate(layers) if name in STARTS]
    gaps = [30 if i + 1 in starts else 20 for i in range(len(rows))]
    shapes, places = grid(rows, MARGIN + LABEL, apart=5, gap=gaps, pad=10, even=False, size=12)
    tops = {i: place.y for (i, _), place in places.items()}
    names = [text(MARGIN, tops[i] + 17, name, "it-note") for i, (name, _) in enumerate(layers)]
    lines, ends = [], {}  # ends: the place of a column's last box
    for i, row in enumerate(rows):
        for j, first in ((j, places[0, j]) for j in range(len(rows[0]))):
            if at := places.get((i, j % len(row))):
                lines += arrow_down(first.middle, ends[j].low, at.y) if j in ends and i not in starts else []
                ends[j] = at
    return [group("it-3", *lines), *names, *shapes]


def _lines(names: str, room: int) -> list:
    """Names in lines of so many characters, broken between two of them or at an underscore."""
    return [line.replace("-", "_") for line in wrap(names.replace("_", "-"), room)]
