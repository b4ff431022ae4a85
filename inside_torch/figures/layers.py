"""The figure of one call of a function through all layers, drawn from what a run of each of them recorded."""

import re
import warnings
from collections.abc import Callable

import torch
from torch.autograd.profiler import profile
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from inside_torch.drawing.checks import checked
from inside_torch.drawing.layout import MARGIN, NARROW, READ, ROOM, widest
from inside_torch.drawing.svg import group, text

from .boxes import DASH, LINE, Box, Place, laid_out
from .graph import explore
from .keys import keys_of, registered

HEADS = "Eager mode: every call", "Compiled: once", "Compiled: later calls"
APART = 14  # px from one way down to the next
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


def line_layers(f, *inputs: torch.Tensor, call: str, title: str) -> str:
    """The way of one call of torch in `f(*inputs)`, the first of this name, in columns: in eager mode, in the first
    call of the compiled f, and in a later one, from top to bottom with a box for each layer and what it holds of that
    call. The inputs are not changed, and get no gradients. Raises TypeError for inputs that are no tensors, ValueError
    for a result without gradient or of more than one element, where f makes no such call, where the call's table of
    operators or Inductor's code for it can't be found."""
    ways = [_eager(f, copied(inputs), call), *_compiled(f, copied(inputs), call)]
    rows = [[head, name, ", ".join(said)] for head, layers in zip(HEADS, ways) for name, said in layers]
    desc = f"The call {call}, from top to bottom. "
    for head, layers in zip(HEADS, ways):
        desc += f"{head}. " + " ".join(f"{name}: {', '.join(said)}." for name, said in layers) + " "
    return laid_out(title, desc.strip(), ["call", "floor", "holds"], rows, _draw, ways, kind="")


def _eager(f, inputs: list, call: str) -> list:
    """The layers that a call passes in eager mode, as (name, what the layer holds of it)."""
    keys = lambda func, args: (func.__name__, keys_of(args[0]) if isinstance(args[0], torch.Tensor) else [])  # noqa: E731
    with Calls(calls := []):
        y = f(*inputs)
    if not (isinstance(y, torch.Tensor) and y.numel() == 1 and y.requires_grad):
        raise ValueError("f must return one number that needs a gradient")
    with Functions(passed := [], keys), profile() as profiled:
        f(*inputs)
    there = [(own, nodes, above) for (own, nodes, _), (_, above) in zip(calls, passed, strict=True) if own == call]
    ran = next((event for event in profiled.function_events if event.name == f"aten::{call}"), None)
    if not there or not there[0][1] or ran is None:
        raise ValueError(f"f makes no call of {call} that is an operator with a node")
    _, nodes, above = there[0]
    files = registered(f"aten::{call}")
    taken = [key for key, excluded in above if not excluded and files.get(key)]
    below = [event.name for event in profiled.function_events if event.cpu_parent is ran]
    named = [("Python", [call]), ("dispatcher", taken), ("autograd", [node.name() for node in nodes])]
    return [*named, ("kernel", [f"of {ran.name}", *(f"calls {name}" for name in below)])]


def _compiled(f, inputs: list, call: str) -> tuple[list, list]:
    """The layers that the first call of the compiled f brings a call down, and those that are left of them in a later
    one, as (name, what the layer holds of it)."""

    def named(graph, captured):
        nodes = [node for node in graph.graph.nodes if node.op == "call_function" and _source(node) == call]
        return ", ".join(f"aten.{node.target.overloadpacket.__name__}" for node in nodes)

    y, captured, graphs, (forward, _) = _traced(f, inputs, named, {"cpp.simdlen": 1})  # vectors differ by CPU
    own = next((part for part in forward.split("cpp_fused_")[1:] if part.startswith(call)), "")
    computed = re.search(r"auto tmp1 = (.+);", own)
    function = re.search(r"kernel\(((?:const )?\w+\*)", own)
    if not computed or not function:
        raise ValueError(f"Inductor wrote no function for {call} alone")
    machine = ("machine code", [f"kernel({function[1]})"])
    first = [
        ("Dynamo", [name for name in map(_name, captured) if name == call][:1]),
        ("AOTAutograd", [f"{way}: {said}" for way, said in zip(("forward", "backward"), graphs, strict=True)]),
        ("Inductor", [f"cpp_fused_{own.split()[0]}", computed[1]]),
        machine,
    ]
    checked_again = [f"guards: {_guarded(f)} tensors"]
    return first, [("Dynamo", checked_again), ("AOTAutograd", [y.grad_fn.name()]), ("Inductor", [DASH]), machine]


def _guarded(f) -> int:
    """The number of tensors that the guards of the newest code for f check."""
    from torch._dynamo.eval_frame import _debug_get_cache_entry_list

    return str(_debug_get_cache_entry_list(f)[0].guard_manager).count("check_tensor(")


def _traced(f, inputs: list, note: Callable, settings: dict | None = None) -> tuple:
    """What compiling f makes, forward and backward: its result, the calls in Dynamo's graph, what `note` says of each
    of AOTAutograd's graphs and of those calls, and the code that Inductor writes for each, with its `settings`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Inductor imports a part of torch that is deprecated
        from torch._inductor.compile_fx import compile_fx, compile_fx_inner
        from torch._inductor.utils import run_fw_bw_and_get_code

    captured, graphs = [], []

    def keep(graph, example_inputs, **options):
        graphs.append(note(graph, captured))
        return compile_fx_inner(graph, example_inputs, **options)

    def backend(graph, example_inputs):
        captured.extend(node for node in graph.graph.nodes if node.op.startswith("call"))
        return compile_fx(graph, example_inputs, inner_compile=keep)

    compiled = torch.compile(f, backend=backend, fullgraph=True)
    off = torch._functorch.config.patch(enable_autograd_cache=False)  # a hit would show no graphs
    with off, torch._inductor.config.patch(settings or {}):
        y, codes = run_fw_bw_and_get_code(lambda: compiled(*inputs))
    return y, captured, graphs, codes


def _name(node) -> str:
    """The name of what a node of Dynamo's graph calls."""
    return getattr(node.target, "__name__", node.target)


def _source(node) -> str:
    """The call of Python that a node of AOTAutograd's graph comes from; a pass of Inductor's is none."""
    source = node.meta.get("source_fn_stack") or node.meta.get("fwd_source_fn_stack") or [("", None)]
    return source[-1][0]


def compiled_layers(f, inputs: list) -> list:
    """The layers of torch.compile: Dynamo's graph, both of AOTAutograd's, Inductor's kernels for each (one list)."""
    _, captured, graphs, codes = _traced(f, inputs, _by_call)
    layers = [("Dynamo", [[_name(node)] for node in captured])]
    for way, graph, code in zip(["AOT forward", "AOT backward"], graphs, codes, strict=True):
        layers += [(way, graph), ("Inductor", [KERNEL.findall(code)])]
    return layers


def _by_call(graph, captured: list) -> list:
    """The operators of one of AOTAutograd's graphs, by the node of Dynamo's graph that they come from: each under the
    name that it had before it was decomposed, once; what a pass of Inductor added comes from none and is left out."""
    calls, cells = [node.meta["source_fn_stack"][-1][0] for node in captured], [[] for _ in captured]
    for node in (node for node in graph.graph.nodes if node.op == "call_function"):
        if (source := _source(node)) in calls:
            cells[calls.index(source)].append(node.meta["original_aten"].overloadpacket.__name__)
    return [list(dict.fromkeys(cell)) for cell in cells]


def _draw(ways: list, wide: bool) -> list:
    """A column for each way down, on a phone one below the other, with a box for each layer under its name, dashed
    where the layer holds nothing. The boxes of a row stand at one height."""
    widths = [
        widest([head, *(line for name, said in layers for line in (name, *said))], READ) + 16
        for head, layers in zip(HEADS, ways)
    ]
    more = (ROOM - sum(widths) - APART * (len(ways) - 1)) / len(ways)
    tall = [max(len(said) for _, said in row) for row in zip(*ways, strict=True)]
    shapes, x, y = [], MARGIN, MARGIN
    for head, layers, width in zip(HEADS, ways, widths):
        width = width + more if wide else NARROW
        shapes.append(text(x, y + 13, head, "it-name"))
        y += 22
        for (name, said), most in zip(layers, tall):
            shapes.append(text(x, y + 13, name, "it-note"))
            place = Place(x, y + 19, width, LINE * (most if wide else len(said)) + 10)
            shapes += Box(said, "it-pill it-dashed" if said == [DASH] else "it-pill").drawn(place)
            y = place.low + 6
        x, y = (x + width + APART, MARGIN) if wide else (x, y + 14)
    return [group("it-1", *shapes)]
