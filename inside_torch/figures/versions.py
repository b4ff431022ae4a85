"""The figure of the version check: a program saves a tensor, writes to it, and backward compares versions."""

import re

import torch

from inside_torch.drawing.layout import MARGIN, NARROW, READ, code_width, widest
from inside_torch.drawing.svg import text

from .boxes import Box, Place, laid_out

ROW, HIGH, APART = 38, 28, 8  # from a step to the next, the height of a box, the room between two columns
VERSION = code_width("version 0", READ) + 16


def version_check(lines: list[str], space: dict, of: str, *, title: str) -> str:
    """The lines run one after the other with the names in `space`. For each, the version of the tensor `of`, and for
    each node that saved its memory what it noted; the last line runs backward, where each node that still runs
    compares. A node that is refused has its last box filled. Raises ValueError where no node saved the tensor, where
    torch's message and the versions do not agree, and for what is too wide."""
    space, nodes, rows = dict(space), {}, []
    for line in lines[:-1]:
        exec(line, space)
        fresh = _savers(space, of, nodes)
        nodes |= fresh
        rows.append([line, space[of]._version, *(f"saves {of} at {fresh[n]}" if n in fresh else "" for n in nodes)])
    if not nodes:
        raise ValueError(f"no node saved {of}")
    said, now = _refusal(lines[-1], space), space[of]._version
    stale = [node for node, at in nodes.items() if at != now]
    if bool(said) != bool(stale) or (stale and said != (str(now), str(nodes[stale[-1]]))):
        raise ValueError(f"the nodes noted {list(nodes.values())}, {of} is at {now}, and torch said {said}")
    verdicts = [f"{at} = {now}: runs" if at == now else f"{at} ≠ {now}: refused" for at in nodes.values()]
    rows.append([lines[-1], now, *verdicts])
    heads = ["line", of, *(node.name() for node in nodes)]
    rows = [row + [""] * (len(heads) - len(row)) for row in rows]
    told = [f"{line}: {of} is at version {now}" + _told(heads, notes) for line, now, *notes in rows]
    desc = "; ".join(told)
    return laid_out(title, desc + ".", heads, [list(map(str, row)) for row in rows], _drawn, heads, rows)


def _told(heads: list, notes: list) -> str:
    return "".join(f", {node} {one}" for node, one in zip(heads[2:], notes) if one)


def _savers(space: dict, of: str, known: dict) -> dict:
    """The nodes behind the tensors of a program that saved the memory of `of` and are not yet known, with the version
    that it has now."""
    tensors = [one for one in space.values() if isinstance(one, torch.Tensor)]
    found = [node for one in tensors if (node := one.grad_fn)]
    for node in found:
        found += [deeper for deeper, _ in node.next_functions if deeper and deeper not in found]
    home = of in space and space[of].untyped_storage().data_ptr()
    saved = lambda node: [getattr(node, key) for key in dir(node) if key.startswith("_saved_")]  # noqa: E731
    fresh = dict.fromkeys(node for node in found if node not in known)
    return {
        node: space[of]._version
        for node in fresh
        for one in saved(node)
        if isinstance(one, torch.Tensor) and one.untyped_storage().data_ptr() == home
    }


def _refusal(line: str, space: dict) -> tuple | None:
    """The version that torch found, and the one that it expected, if it refuses the line."""
    try:
        exec(line, space)
    except RuntimeError as error:
        if not (found := re.search(r"is at version (\d+); expected version (\d+)", str(error))):
            raise
        return found.groups()
    return None


def _drawn(heads: list, rows: list, wide: bool) -> list:
    """A row of boxes for each step, under the names of the nodes. On a phone the line of code stands above its boxes,
    and each note, with the name of its node, has a line of its own."""
    if not wide:
        return _narrow(heads, rows)
    spans = [[head, *column] for head, *column in zip(heads[2:], *(row[2:] for row in rows))]
    widths = [VERSION, *(widest(span) + 16 for span in spans)]
    left = MARGIN + widest(row[0] for row in rows) + 16
    lefts = [left + sum(widths[:i]) + APART * i for i in range(len(widths))]
    shapes = [text(x + w / 2, MARGIN + 13, head, "it-name", "middle") for x, w, head in zip(lefts, widths, heads[1:])]
    for i, (line, version, *notes) in enumerate(rows):
        y = MARGIN + 26 + i * ROW
        shapes.append(text(MARGIN, y + HIGH / 2 + 4.5, line, "it-value"))
        for x, width, said in zip(lefts, widths, [f"version {version}", *notes]):
            shapes += _box(said, Place(x, y, width, HIGH))
    return shapes


def _narrow(heads: list, rows: list) -> list:
    shapes, y = [], MARGIN
    for line, version, *notes in rows:
        shapes.append(text(MARGIN, y + 14, line, "it-value"))
        said = [f"{heads[1]}: version {version}"]
        said += [f"{node}: {one}" for node, one in zip(heads[2:], notes) if one]
        for i, one in enumerate(said):
            shapes += _box(one, Place(MARGIN + 16, y + 22 + i * (HIGH + 4), NARROW - 16, HIGH))
        y += 22 + len(said) * (HIGH + 4) + 10
    return shapes


def _box(said: str, place: Place) -> list:
    """The tone tells what it is: a version, a note, or what came of a comparison."""
    tones = {"refused": "it-1", "runs": "it-2", "saves": ""}
    tone = next((tone for word, tone in tones.items() if word in said), "it-3")
    return Box([said], "it-element" if tone else "it-pill", tone=tone).drawn(place) if said else []
