"""The figure of one function through all layers, drawn from what a run of each of them recorded."""

import re
import warnings
from typing import NamedTuple

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from .svg import MARGIN, arrow_head, code_width, figure, group, path, rect, text

LINE = 15  # from one line of text in a box to the next
GAP = 20  # between two layers
SPACE = 8  # between two columns
MOST = 6  # more operations do not fit a page
KERNEL = re.compile(r"\b(?:cpp_fused_\w+|extern_kernels\.\w+)(?=\()")


class Layer(NamedTuple):
    """A row of the figure: one cell for each operation, or one for all of them."""

    name: str
    cells: list  # of what the layer holds for that operation, a list of names each
    generated: bool
    first: bool = False  # whether nothing above leads here


class _Calls(TorchFunctionMode):
    """Each call of torch from Python: its name, the node it left, the operators below autograd."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        with _Operators() as below:
            out = func(*args, **(kwargs or {}))
        self.seen.append((func.__name__, getattr(out, "grad_fn", None), below.seen))
        return out


class _Operators(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(str(func.overloadpacket))
        return func(*args, **(kwargs or {}))


def line_layers(f, *inputs: torch.Tensor, title: str) -> str:
    """`f(*inputs)` through all layers: a column for each call of torch, a row for each layer, a box for
    what the layer holds of that call; boxes of generated things are dashed. A kernel that Inductor
    made spans the operations that it does. The inputs are not changed, and get no gradients.

    Raises TypeError for inputs that are no tensors, ValueError for a result without gradient or of more
    than one element, for more than 6 calls, and where a layer's operations can't be told apart by call.
    """
    for given in inputs:
        if not isinstance(given, torch.Tensor):
            raise TypeError(f"inputs must be torch.Tensors, got {type(given).__name__}")
    layers = _eager(f, _copies(inputs)) + _compiled(f, inputs)
    return _draw(layers, title)


def _copies(inputs) -> list:
    return [given.detach().clone().requires_grad_(given.requires_grad) for given in inputs]


def _eager(f, inputs: list) -> list:
    """The layers that a plain call of f passes."""
    with _Calls() as calls:
        y = f(*inputs)
    if not (isinstance(y, torch.Tensor) and y.numel() == 1 and y.requires_grad):
        raise ValueError("f must return one number that needs a gradient")
    if not 1 <= len(calls.seen) <= MOST:
        raise ValueError(f"f makes {len(calls.seen)} calls of torch, and 1 to {MOST} can be drawn")
    return [
        Layer("Python", [[name] for name, _, _ in calls.seen], False, True),
        Layer("autograd", [[node.name()] if node else [] for _, node, _ in calls.seen], True),
        Layer("operators", [operators for *_, operators in calls.seen], False),
    ]


def _compiled(f, inputs: tuple) -> list:
    """The layers of torch.compile: Dynamo's graph, both of AOTAutograd's, Inductor's kernels for each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Inductor imports a part of torch that is deprecated
        from functorch.compile import make_boxed_func
        from torch._inductor.compile_fx import compile_fx
        from torch._inductor.utils import run_fw_bw_and_get_code

    captured, graphs = [], []

    def keep(graph, example_inputs, **settings):
        graphs.append(graph)
        return make_boxed_func(graph)

    def backend(graph, example_inputs):
        captured.extend(node.name for node in graph.graph.nodes if node.op.startswith("call"))
        return compile_fx(graph, example_inputs, inner_compile=keep)

    with torch._functorch.config.patch(enable_autograd_cache=False):  # a hit would show no graphs
        torch.compile(f, backend=backend, fullgraph=True)(*_copies(inputs)).backward()
    compiled, copies = torch.compile(f, fullgraph=True), _copies(inputs)
    _, codes = run_fw_bw_and_get_code(lambda: compiled(*copies))
    layers = [Layer("Dynamo", [[name] for name in captured], True, True)]
    for way, graph, code in zip(["forward", "backward"], graphs, codes, strict=True):
        layers.append(Layer(f"AOT {way}", _by_call(graph, captured), True, way == "backward"))
        layers.append(Layer("Inductor", [list(dict.fromkeys(KERNEL.findall(code)))], True))
    return layers


def _by_call(graph, captured: list) -> list:
    """The operators of one of AOTAutograd's graphs, by the node of Dynamo's graph they come from."""
    cells = [[] for _ in captured]
    for node in graph.graph.nodes:
        if node.op != "call_function":
            continue
        source = node.meta.get("source_fn_stack") or node.meta.get("fwd_source_fn_stack")
        if not source or source[-1][0] not in captured:
            raise ValueError(f"nothing tells which call {node.name} belongs to")
        cells[captured.index(source[-1][0])].append(str(node.target.overloadpacket))
    return cells


def _draw(layers: list, title: str) -> str:
    columns = len(layers[0].cells)
    for layer in layers:
        if len(layer.cells) not in (1, columns):
            raise ValueError(f"{layer.name} has {len(layer.cells)} operations for {columns} calls")
    widths = [
        max(code_width(said, 11) for layer in layers if len(layer.cells) == columns for said in layer.cells[i] or ["-"])
        + 12
        for i in range(columns)
    ]
    spans = [code_width(s, 11) + 12 for layer in layers if len(layer.cells) != columns for s in layer.cells[0]]
    short = max([0, *spans]) - sum(widths) - SPACE * (columns - 1)
    widths = [width + max(0, short) / columns for width in widths]
    left = MARGIN + max(code_width(layer.name) for layer in layers) + 10
    lefts = [left + sum(widths[:i]) + SPACE * i for i in range(columns)]
    whole = lefts[-1] + widths[-1] - left
    boxes, lines, y = [], [], MARGIN
    above = [None] * columns  # where a column's last box ended
    for number, layer in enumerate(layers):
        if layer.first:
            above = [None] * columns
            y += GAP / 2 if number else 0
        highs = [LINE * len(said) + 8 for said in layer.cells] * (columns if len(layer.cells) != columns else 1)
        boxes.append(text(MARGIN, y + 15, layer.name, "it-note"))
        places = zip(lefts, widths) if len(layer.cells) == columns else [(left, whole)]
        for said, (x, width), high in zip(layer.cells, places, highs):
            if said:
                boxes.append(rect(x, y, width, high, f"it-pill{' it-dashed' if layer.generated else ''}", 3))
            for i, name in enumerate(said):
                boxes.append(text(x + width / 2, y + 15 + LINE * i, name, "it-saved", "middle"))
        for i, (x, width) in enumerate(zip(lefts, widths)):
            if len(layer.cells) == columns and not layer.cells[i]:
                continue
            if above[i] is not None:
                middle = x + width / 2
                lines += [path("M", middle, above[i], "V", y - 6), arrow_head(middle, y)]
            above[i] = y + highs[i]
        y += max(highs) + GAP
    rows = [
        [layer.name, ", ".join(said), "generated" if layer.generated else ""]
        for layer in layers
        for said in layer.cells
    ]
    said = [f"{layer.name}: {' | '.join(', '.join(cell) or 'nothing' for cell in layer.cells)}." for layer in layers]
    return figure(
        [group("it-3", *lines), *boxes],
        left + whole + MARGIN,
        y - GAP + MARGIN,
        title=title,
        desc="A column for each call, from top to bottom. " + " ".join(said),
        columns=["layer", "holds", "made by a program"],
        rows=rows,
    )
