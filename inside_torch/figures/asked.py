"""The figure of the three questions that a call of an operator is asked before it leaves a node, and of the calls that
get a no from each of them. Functions in front of autograd's kernels, and of those of the CPU, find the answers."""

import warnings
from collections import Counter
from collections.abc import Callable
from textwrap import wrap

import torch
from torch.library import Library

from inside_torch.drawing.svg import text

from .boxes import Box, across, down, grid, laid_out
from .noted import put_before

QUESTIONS = {
    "1 The dispatcher": "is autograd's code called at all?",
    "2 Grad mode": "does the thread want nodes?",
    "3 The tensors": "does an input require grad?",
}
NODE = "A node is made"
GAP = 28  # px between two boxes: room for a word beside an arrow


def three_questions(lines: dict[str, Callable], operators: list[str], *, title: str) -> str:
    """The way of a call from top to bottom: three questions, an arrow to the right where one is answered with no, and
    the node after three times yes. Beside a question stands how many calls of these operators (`addmm`) get the no
    there, for each of the lines, functions without arguments; in the last box how many leave a node.

    Raises ValueError for a line that calls none of the operators, for an operator that leaves a node without three
    times yes, or none after them, or passes autograd outside of inference mode, and for names that do not fit."""
    places = [*QUESTIONS, NODE]
    found = {name: answered(line, operators) for name, line in lines.items()}
    if idle := [name for name, counts in found.items() if not counts]:
        raise ValueError(f"{idle[0]} calls none of {', '.join(operators)}")
    here = {place: {name: n[i] for name, n in found.items() if n[i]} for i, place in enumerate(places)}
    said = {place: ", ".join(f"{name}: {n}" for name, n in here[place].items()) or "none" for place in places}
    desc = " ".join(f"{place}: {asked} Calls that get a no: {said[place]}." for place, asked in QUESTIONS.items())
    desc += f" {NODE} after three times yes: {said[NODE]}."
    rows = [[place, name, n] for place in places for name, n in here[place].items()]
    return laid_out(title, desc, ["end of the way", "line", "calls"], rows, _draw, here, kind="it-1 it-large")


def answered(line: Callable, operators: list[str]) -> Counter:
    """How many calls of these operators a line makes that get a no at each question, from 0 on; at 3 those that leave a
    node."""
    count, asked, found, wrong = torch._C._autograd._get_sequence_nr, [], Counter(), []

    def note(name, key, _, args):
        if key == "AutogradCPU":
            needed = any(getattr(one, "requires_grad", False) for one in args)
            asked.append(([True, torch.is_grad_enabled(), needed], count()))
        else:
            answers, before = asked.pop() if asked else ([False], count())
            found[[*answers, False].index(False)] += 1
            strange = answers[0] == torch.is_inference_mode_enabled() or all(answers) != (count() > before)
            wrong.extend([name] * strange)

    library = Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a kernel is replaced, until the library is destroyed
        put_before(library, dict.fromkeys(operators, ("AutogradCPU", "CPU")), note)
        try:
            line()
        finally:
            library._destroy()
    if wrong:
        raise ValueError(f"the three questions do not decide whether {wrong[0]} leaves a node")
    return found


def _draw(here: dict, wide: bool) -> list:
    boxes = [[Box(["a call"]), Box(["leave no node"], "")]]
    for place, counts in here.items():
        asked, lines = QUESTIONS.get(place, ""), [f"{name}: {n}" for name, n in counts.items()]
        asked = [asked] if wide else wrap(asked, 15)
        own = [Box([place, *asked], bold=place), Box(lines) if lines else None]
        boxes.append([Box([place, *lines], "it-element", place), None] if place == NODE else own)
    shapes, at = grid(boxes, apart=72 if wide else 28, gap=GAP, pad=24 if wide else 8)
    ways = down(at[i, 0] for i in range(len(boxes)))
    for i in range(1, len(QUESTIONS) + 1):
        ways.append(text(at[i, 0].middle + 10, at[i, 0].low + GAP / 2 + 3, "yes", "it-note"))
        if (i, 1) in at:
            ways += across([at[i, 0], at[i, 1]])
            ways.append(text((at[i, 0].right + at[i, 1].x) / 2 - 3, at[i, 0].level - 6, "no", "it-note", "middle"))
    return [*ways, *shapes]
