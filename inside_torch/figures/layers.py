"""The figure of one function through all layers, drawn from what a run of each of them recorded."""

import re
import warnings
from textwrap import wrap

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from .checks import checked
from .drawing import arrow_down, figure, group, rect, text
from .graph import explore
from .layout import MARGIN, NARROW, code_width

LINE = 15  # from one line of text in a box to the next
GAP, SPACE = 20, 8  # between two layers, two columns
LONGEST = 82  # characters of a line
MOST = 6  # more operations do not fit a page
BY_HAND = ("Python", "operators")  # layers that no program wrote
STARTS = ("Python", "Dynamo", "AOT backward")  # layers to which nothing above leads
KERNEL = re.compile(r"\b(?:cpp_fused_\w+|extern_kernels\.\w+)(?=\()")


class Calls(TorchFunctionMode):
    """Each call of torch from Python: its name, the nodes that it left, the operators below autograd."""

    def __init__(self, seen: list):
        super().__init__()
        self.seen = seen

    def __torch_function__(self, func, types, args=(), kwargs=None):
        with Operators(operators := []):
            out = func(*args, **(kwargs or {}))
        left = explore(out)[0] if getattr(out, "grad_fn", None) else []
        known = [node for _, nodes, _ in self.seen for node in nodes]
        own = [node for node in left if node not in known and not hasattr(node, "variable")]
        self.seen.append((func.__name__, own[::-1], operators))
        return out


class Operators(TorchDispatchMode):
    def __init__(self, seen: list):
        super().__init__()
        self.seen = seen

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


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
    columns = len(layers[0][1])
    for name, cells in layers:
        if len(cells) not in (1, columns):
            raise ValueError(f"{name} has {len(cells)} operations for {columns} calls")
    said = [f"{name}: {' | '.join(', '.join(cell) or 'nothing' for cell in cells)}." for name, cells in layers]
    desc = "A column for each call, from top to bottom. " + " ".join(said)
    rows = [[name, ", ".join(cell), "generated" * (name not in BY_HAND)] for name, cells in layers for cell in cells]
    heads = ["layer", "holds", "made by a program"]
    return figure(*_draw(layers, columns), title, desc, heads, rows, _draw_narrow(layers))


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


def _draw(layers: list, columns: int) -> tuple:
    broken = lambda cell: [line for name in cell for line in _lines(name, LONGEST)]  # noqa: E731
    layers = [(name, list(map(broken, cells))) for name, cells in layers]
    apart = [cells for _, cells in layers if len(cells) == columns]
    fused = [cells[0] for _, cells in layers if len(cells) != columns]
    widths = [max(map(_width, column)) for column in zip(*apart)]
    short = max(map(_width, fused), default=0) - sum(widths) - SPACE * (columns - 1)
    widths = [width + max(0, short) / columns for width in widths]
    left = MARGIN + max(code_width(name) for name, _ in layers) + 10
    lefts = [left + sum(widths[:i]) + SPACE * i for i in range(columns)]
    whole = lefts[-1] + widths[-1] - left
    boxes, lines, ends, y = [], [], {}, MARGIN  # ends: where a column's last box ended
    for name, cells in layers:
        if name in STARTS:
            ends, y = {}, y + GAP / 2 * bool(boxes)
        boxes.append(text(MARGIN, y + 15, name, "it-note"))
        places = zip(lefts, widths) if len(cells) == columns else [(left, whole)]
        for cell, (x, width) in zip(cells, places):
            kind = "it-pill" if name in BY_HAND else "it-pill it-dashed"
            boxes += [rect(x, y, width, LINE * len(cell) + 8, kind, 3)] * bool(cell)
            boxes += [text(x + width / 2, y + 15 + LINE * i, s, "it-saved", "middle") for i, s in enumerate(cell)]
        for i in range(columns):
            if cell := cells[i % len(cells)]:
                lines += arrow_down(lefts[i] + widths[i] / 2, ends[i], y) if i in ends else []
                ends[i] = y + LINE * len(cell) + 8
        y += LINE * max(map(len, cells)) + 8 + GAP
    return [group("it-3", *lines), *boxes], left + whole + MARGIN, y - GAP + MARGIN


def _width(cell: list) -> int:
    """Width of a box with these names, one below the other."""
    return max(code_width(name, 11) for name in cell or ["-"]) + 12


def _draw_narrow(layers: list) -> tuple:
    """The same for a phone: below the name of each layer a box, in which the calls follow each other, numbered."""
    shapes, y, room = [], MARGIN, (NARROW - 16) * 100 // code_width("-" * 100, 11)
    for name, cells in layers:
        calls = [f"{i} {', '.join(cell) or 'nothing'}" for i, cell in enumerate(cells, 1)]
        said = calls if len(cells) > 1 else cells[0]
        lines = [line for one in said for line in _lines(one, room)]
        kind = "it-pill" if name in BY_HAND else "it-pill it-dashed"
        shapes.append(text(MARGIN, y + 15, name, "it-note"))
        shapes.append(rect(MARGIN, y + 22, NARROW, LINE * len(lines) + 8, kind, 3))
        shapes += [text(MARGIN + 8, y + 37 + LINE * i, line, "it-saved") for i, line in enumerate(lines)]
        y += LINE * len(lines) + 44
    return shapes, NARROW + 2 * MARGIN, y


def _lines(names: str, room: int) -> list:
    """Names in lines of so many characters, broken between two of them or at an underscore."""
    return [line.replace("-", "_") for line in wrap(names.replace("_", "-"), room)]
