"""The figure of a package at work: which of its modules are called in each part of a program, and how often."""

import gc
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from inside_torch.drawing.layout import MARGIN, NARROW, ROOM, widest
from inside_torch.drawing.svg import cell, text

from .boxes import laid_out

HIGH, LEFT = 28, 12  # px: a row, and what is left free beside a name


def calls_within(package: ModuleType, parts: dict[str, Callable], modules: list[str], *, title: str) -> str:
    """A row for each of the `modules` of a package, in this order, and a column for each of the `parts` of a program,
    functions without arguments that run one after another. A cell has the number of calls of functions that the module
    defines; those of the package itself, which only lead on, are left out. `title` names what the figure shows.

    Raises ValueError for a part that calls none of the modules, and for modules of the package that are called and not
    listed, or listed and never called."""
    counts = {name: counted(package, part) for name, part in parts.items()}
    if idle := [name for name, found in counts.items() if not found]:
        raise ValueError(f"{idle[0]} calls nothing of {package.__name__}")
    called = {module for found in counts.values() for module in found}
    if wrong := sorted(called ^ set(modules)):
        raise ValueError(f"{', '.join(wrong)}: either called and not in the list, or in the list and not called")
    rows = [[module, *(found[module] for found in counts.values())] for module in modules]
    busy = {row[0]: [name for name, n in zip(counts, row[1:]) if n] for row in rows}
    desc = " ".join(f"{module} is called in {', '.join(names)}." for module, names in busy.items())
    return laid_out(title, desc, ["module", *parts], rows, _draw, list(parts), rows)


def counted(package: ModuleType, part: Callable) -> Counter:
    """How many functions of each module of a package are called while `part` runs."""
    folder, found = Path(package.__file__).parent, Counter()

    def note(frame, event, arg) -> None:
        file, named = Path(frame.f_code.co_filename), not frame.f_code.co_name.startswith("<")
        if event == "call" and named and file.parent == folder and file.stem != "__init__":
            found[file.stem] += 1

    gc.disable()  # it would drop tensors at moments of its own, and that calls functions too
    sys.setprofile(note)
    try:
        part()
    finally:
        sys.setprofile(None)
        gc.enable()
    return found


def _draw(parts: list, rows: list, wide: bool) -> list:
    """On a phone the columns have numbers for names, which are explained above."""
    label = widest(row[0] for row in rows) + LEFT
    room = (ROOM if wide else NARROW) - label
    width, top = room / len(parts), MARGIN + 20
    heads, shapes = parts, []
    if not wide:
        heads = [str(i) for i in range(1, len(parts) + 1)]
        said = [f"{number} {part}" for number, part in zip(heads, parts)]
        half = -(-len(said) // 2)
        for at, one in enumerate(said):
            shapes.append(text(MARGIN + at // half * 164, MARGIN + 14 + at % half * 20, one, "it-name"))
        top += half * 20 + 8
    x = [MARGIN + label + i * width for i in range(len(parts))]
    shapes += [text(at + width / 2, top - 6, head, "it-name", "middle") for at, head in zip(x, heads)]
    for i, (module, *numbers) in enumerate(rows):
        y = top + i * HIGH
        shapes.append(text(MARGIN + label - LEFT, y + HIGH / 2 + 4.5, module, "it-value", "end"))
        for at, n in zip(x, numbers):
            shapes += cell(at, y, width, str(n) if n else "", tones=(1,) if n else (), height=HIGH)
    return shapes
