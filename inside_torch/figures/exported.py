"""The figure of an exported program: its inputs with their kinds, its operators in order, its outputs, as
torch.export.ExportedProgram has them in its graph and its signature."""

from typing import NamedTuple

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind

from inside_torch.drawing.checks import checked
from inside_torch.drawing.layout import MARGIN, NARROW, READ, ROOM, code_width
from inside_torch.drawing.svg import arrow, arrow_down, group, text

from .boxes import Box, Place, laid_out

CARD, ROW, GAP = 40, 48, 26  # height of an input, from one input to the next, between two operators
HEAD, PAD = 26, 10  # height of the headings, around the text of a box
MOST = 8  # operators that fit a page


class Step(NamedTuple):
    """An operator, with the inputs of the graph that it takes."""

    name: str
    shape: str
    inputs: list  # (kind, name, shape)


def exported_program(program: ExportedProgram, *, title: str) -> str:
    """Each operator of an exported program in a box, from top to bottom in the order in which they run; on its left the
    inputs of the graph that it takes, in the graph's order, each with its kind and the name it has in the model; at the
    end the output. Sizes are those of the graph, so a dynamic one is a symbol.

    Raises TypeError for what is no exported program, ValueError for a program that is not a chain (an operator that
    takes anything but inputs and the result right before it), for one with an input that no operator takes or that two
    take, with more than one output, without operators or with more than 8, and for names that do not fit."""
    steps, output = _read(checked(program, ExportedProgram, "program"))
    rows = [["input", kind, name, shape, step.name] for step in steps for kind, name, shape in step.inputs]
    rows += [["operator", "", step.name, step.shape, ""] for step in steps] + [["output", *output, ""]]
    said = [f"{s.name} takes {', '.join(one[1] for one in s.inputs) or 'the result before it'}." for s in steps]
    desc = f"{' '.join(said)} The output is {output[1]}, a {output[0]}."
    return laid_out(title, desc, ["is", "kind", "name", "shape", "taken by"], rows, _draw, steps, output)


def _read(program: ExportedProgram) -> tuple:
    """The steps, and kind, name and shape of the output."""
    specs = {spec.arg.name: spec for spec in program.graph_signature.input_specs}
    calls = [node for node in program.graph.nodes if node.op == "call_function"]
    if not 0 < len(calls) <= MOST:
        raise ValueError(f"the program has {len(calls)} operators, and 1 to {MOST} can be drawn")
    order = {node: i for i, node in enumerate(program.graph.nodes)}
    steps, taken, before = [], set(), None
    for node in calls:
        inputs = []
        for one in sorted(node.all_input_nodes, key=order.get):
            if one.op == "placeholder" and one not in taken:
                spec = specs[one.name]
                inputs.append((InputKind(spec.kind).name, spec.target or one.name, _shape(one)))
                taken.add(one)
            elif one is not before:
                raise ValueError(f"{node.name} takes {one.name}, so the program is not a chain")
        if before and before not in node.all_input_nodes:
            raise ValueError(f"{node.name} does not take {before.name}, so the program is not a chain")
        steps.append(Step(str(node.target.overloadpacket), _shape(node), inputs))
        before = node
    if unused := set(program.graph.find_nodes(op="placeholder")) - taken:
        raise ValueError(f"no operator takes {', '.join(sorted(node.name for node in unused))}")
    outputs = program.graph_signature.output_specs
    if len(outputs) != 1 or outputs[0].arg.name != before.name:
        raise ValueError(f"the program returns {len(outputs)} values, and one is drawn: {before.name}")
    return steps, (OutputKind(outputs[0].kind).name, before.name, _shape(before))


def _shape(node) -> str:
    """The sizes of a node's tensor, as the graph has them."""
    if not isinstance(node.meta.get("val"), torch.Tensor):
        raise ValueError(f"{node.name} is no tensor")
    return f"({', '.join(map(str, node.meta['val'].shape))}{',' * (node.meta['val'].dim() == 1)})"


def _draw(steps: list, output: tuple, wide: bool) -> tuple:
    """The shapes, their width and height, over all the room there is, or more where the names need it."""
    room = ROOM if wide else NARROW
    lines = [[kind, f"{name} {shape}"] for step in steps for kind, name, shape in step.inputs]
    card = max(0.38 * room, *(code_width(line, READ) + 2 * PAD for pair in lines for line in pair))
    said = [line for step in steps for line in (step.name, f"-> {step.shape}")] + [output[0], " ".join(output[1:])]
    box = max(0.44 * room, *(code_width(line, READ) + 2 * PAD for line in said))
    apart = max(22, min(80, room - card - box))
    left = MARGIN + card + apart
    heads = {MARGIN: "inputs of the graph", left: "operators"}
    shapes, y, low = [text(x, MARGIN + 13, head, "it-name") for x, head in heads.items()], MARGIN + HEAD, None
    for step in steps:
        high = max(len(step.inputs), 1) * ROW - (ROW - CARD)
        if low is not None:
            shapes.append(group("it-1", *arrow_down(left + box / 2, low, y)))
        shapes.append(group("it-1", *_box(step.name, f"-> {step.shape}", "it-pill", left, y, box, high)))
        for i, (kind, name, shape) in enumerate(step.inputs):
            top, tone = y + i * ROW, 2 if kind == InputKind.USER_INPUT.name else 3
            inside = arrow(left, top + CARD / 2, "right", "M", MARGIN + card, top + CARD / 2)
            inside += _box(kind, f"{name} {shape}", "it-element", MARGIN, top, card, CARD)
            shapes.append(group(f"it-{tone}", *inside))
        low = y + high
        y = low + GAP
    shapes.append(group("it-1", *arrow_down(left + box / 2, low, y)))
    shapes.append(group("it-2", *_box(output[0], " ".join(output[1:]), "it-element", left, y, box, CARD)))
    return shapes, left + box + MARGIN, y + CARD + MARGIN


def _box(first: str, second: str, kind: str, *place) -> list:
    return Box([first, second], kind, first, "", "start", 6).drawn(Place(*place), PAD)
