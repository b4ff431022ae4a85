"""The figure of a generated kernel: each node of a graph beside the lines of C++ that Inductor writes because of it."""

import re

import torch
from torch.fx import Graph, GraphModule

from inside_torch.drawing.checks import checked
from inside_torch.drawing.layout import MARGIN, PHONE, READ, WIDE, code_width
from inside_torch.drawing.svg import arrow_head, group, path, rect, text

from .boxes import laid_out

LINE, INSET, LONGEST = 20, 8, 36  # height of a line, around the lines of a node, characters a phone has room for


def kernel_lines(f, *inputs: torch.Tensor, title: str) -> str:
    """The nodes of f's graph from top to bottom, each joined to its lines of C++ in the same tone; both light together.
    Found by trying: Inductor writes a kernel for the graph up to each node, and a line belongs to the first node with
    which it comes. Loops and the write of the result come with every node. The code is scalar; casts of indices, hints
    to the compiler and the check of integer divisions are left out.

    Raises TypeError for an input that is no tensor, ValueError for a graph without a kernel or with several, for one
    of more than 6 nodes, for a node that changes the lines of another or is a reduction, and for a long line."""
    from torch.fx.experimental.proxy_tensor import make_fx  # it takes seconds, and other figures do without

    inputs = [checked(one, torch.Tensor, "each of the inputs") for one in inputs]
    module = make_fx(f)(*inputs)
    calls = [node for node in module.graph.nodes if node.op == "call_function"]
    if not 1 <= len(calls) <= 6:
        raise ValueError(f"a figure takes 1 to 6 nodes, and the graph has {len(calls)}")
    bands, seen = [], []
    for node in calls:
        lines = _generated(module, node, inputs)
        loops = [line for line in lines if line.startswith("for(")]
        *body, write = lines[len(loops) :]
        if body[: len(seen)] != seen or lines[: len(loops)] != loops or not write.startswith("out_ptr0["):
            raise ValueError(f"{node.name} changes the lines of the nodes before it")
        target = str(node.target.overloadpacket)
        bands.append((target if target == node.name else f"{node.name} = {target}", body[len(seen) :]))
        seen = body
    bands = [("every node", loops), *bands, (f"return {calls[-1].name}", [write])]
    if long := [line for line in lines if len(line) > LONGEST]:
        raise ValueError(f"a line has at most {LONGEST} characters: {long[0]}")
    rows = [[name, line] for name, lines in bands for line in lines]
    desc = " ".join(f"{name}: {' '.join(lines) or 'no line'}." for name, lines in bands)
    return laid_out(title, desc, ["node", "line of C++"], rows, _draw, bands)


def _generated(module: GraphModule, last, inputs: list) -> list:
    """The lines of the one kernel that Inductor writes for the graph up to the node `last`."""
    from torch._inductor import config
    from torch._inductor.utils import get_code

    graph, copies = Graph(), {}
    graph.graph_copy(module.graph, copies)
    graph.output(copies[last])
    with config.patch({"cpp.simdlen": 1, "fx_graph_cache": False}), torch.no_grad():
        code, *_ = get_code(torch.compile(GraphModule(module, graph)), *inputs)
    kernels = re.findall(r"cpp_pybinding\(.*?'''.*?\)\n\{(.*?)'''", code, re.S)
    if len(kernels) != 1 or "extern_kernels." in code.partition("def call(")[2]:
        raise ValueError(f"one kernel is drawn, and Inductor wrote {len(kernels)} for the graph up to {last.name}")
    lines = re.sub(r"static_cast<int64_t>\(([^()]*)\)", r"\1", kernels[0]).splitlines()
    aside = ("#", "inductor_cpu_", "std::atomic")  # hints to the compiler, and the flag for a division by zero
    return [line.strip() for line in lines if line.strip(" {}") and not line.strip().startswith(aside)]


def _draw(bands: list, wide: bool) -> tuple:
    """The shapes, width and height: each node left of its lines where there is room, else above them."""
    width, left, top = (WIDE, 250, 0) if wide else (PHONE, MARGIN + 10, 34)
    shapes, y, pill_left = [], MARGIN, MARGIN + 10
    for i, (name, lines) in enumerate(bands):
        high, own = LINE * max(len(lines), 1) + INSET, 0 < i < len(bands) - 1  # the first and the last have no node
        kind, middle = "it-element" if own else "it-pill", y + INSET + (high / 2 if wide else 13)
        pill = code_width(name, READ) + 24
        inside = [rect(MARGIN, y, width - 2 * MARGIN, high + top + 2 * INSET, "it-ground", 6)]
        inside += [rect(pill_left, middle - 13, pill, 26, kind, 13), text(MARGIN + 22, middle + 5, name, "it-value")]
        if wide:
            inside += [path("M", pill_left + pill, middle, "H", left - 6), arrow_head(left, middle, "right")]
        inside.append(rect(left, y + top + INSET, width - left - MARGIN - 10, high, kind, 4))
        inside += [text(left + 10, y + top + INSET + 18 + LINE * n, line, "it-value") for n, line in enumerate(lines)]
        tone, said = f"it-band it-{(i - 1) % 3 + 1 if own else 3}", f"{name}: {' '.join(lines) or 'no line'}"
        shapes.append(group(tone, *inside, tabindex="0", role="img", aria_label=said))
        y += high + top + 2 * INSET
    return shapes, width, y + MARGIN
