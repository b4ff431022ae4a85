"""The figure of the three stations at which a call can be refused: before the kernel, and twice inside it. Functions in
front of the kernels tell whether one had begun when the message came."""

import re
from collections.abc import Callable
from textwrap import wrap

from inside_torch.drawing.svg import group, rect, text

from .boxes import Box, Place, across, down, grid, laid_out
from .ran import BACKENDS, noted

STATIONS = {
    "1 Key": ("is there a kernel for the key?", "Could not run \u2026"),
    "2 Checks": ("do the arguments fit?", "any other message"),
    "3 Dtype": ("is there code for it?", '"\u2026" not implemented'),
}
END = "The code runs"
GAP = 34  # px between two boxes: room for a word beside an arrow


def call_stations(calls: dict[str, Callable], *, title: str) -> str:
    """The way of a call from top to bottom: three stations, an arrow to the right where it is refused, with how the
    message begins and the calls, functions without arguments, that end there, each with its operator and its key. The
    two stations inside the kernel stand in a band.

    Raises ValueError where the kernels that ran contradict the message, and for what does not fit."""
    ends = {name: ended(call) for name, call in calls.items()}
    here = {place: {n: said for n, (at, said) in ends.items() if at == place} for place in (*STATIONS, END)}
    rows = [[place, name, said] for place, found in here.items() for name, said in found.items()]
    told = {place: "; ".join(f"{n}, {said}" for n, said in found.items()) or "none" for place, found in here.items()}
    asked = [f"{place}: {asks} If not: {begins} Calls: {told[place]}." for place, (asks, begins) in STATIONS.items()]
    desc = " ".join([*asked, f"Stations 2 and 3 are inside the kernel. {END}: {told[END]}."])
    return laid_out(title, desc, ["end of the way", "call", "operator"], rows, _draw, here, kind="it-1 it-large")


def ended(call: Callable) -> tuple:
    """The station at which a call ends, and its last operator with the key."""
    messages = []

    def tried():
        try:
            call()
        except RuntimeError as error:
            messages.append(str(error))

    if not (ran := noted(tried)):
        raise ValueError("no kernel ran")
    key, operator = ran[-1]
    inside = key in BACKENDS
    if not messages:
        return END, f"{operator} for {key}"
    missing = re.match(r"Could not run 'aten::(\w+).*?' with arguments from the '(\w+)' backend", messages[-1])
    if inside == bool(missing) or (missing and missing[1] != operator):
        raise ValueError(f"{operator} for {key} ran last, but the message is: {messages[-1]}")
    first, checks, dtype = STATIONS
    if missing:
        return first, f"no {operator} for {missing[2]}"
    return dtype if messages[-1].startswith('"') else checks, f"{operator} for {key}"


def _draw(here: dict, wide: bool) -> list:
    boxes = [[Box(["a call"]), None]]
    for place, found in here.items():
        asked, begins = STATIONS.get(place, ("", ""))
        lines = [f"{name}: {said}" if wide else name for name, said in found.items()]
        asked = [asked] if wide else wrap(asked, 15)
        if place == END:
            boxes.append([Box([place, *lines], "it-element", place), None])
        else:
            boxes.append([Box([place, *asked], bold=place), Box([begins, *lines], bold=begins)])
    shapes, at = grid(boxes, apart=72 if wide else 28, gap=[GAP, GAP + 14, GAP, GAP, GAP], pad=20 if wide else 6)
    ways = down(at[i, 0] for i in range(len(boxes)))
    for i in range(1, len(STATIONS) + 1):
        ways += across([at[i, 0], at[i, 1]])
        ways.append(text(at[i, 0].middle + 10, at[i, 0].low + GAP / 2 + 3, "yes", "it-note"))
        ways.append(text((at[i, 0].right + at[i, 1].x) / 2 - 3, at[i, 0].level - 6, "no", "it-note", "middle"))
    last = at[len(STATIONS) + 1, 0]
    top, right = at[2, 0].y - 22, max(place.right for place in at.values())
    band = Place(at[2, 0].x - 4, top, right - at[2, 0].x + 8, last.low + 8 - top)
    label = text(right, last.low - 4, "inside the kernel", "it-note", "end")
    return [group("it-3", rect(*band, "it-fill", 3)), label, *ways, *shapes]
