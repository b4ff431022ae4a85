"""Figure of placements: which cells of a matrix each rank of a mesh holds, read from the ranks' own tensors.

The ranks are those of `LocalTensorMode`, which keeps the local tensors of all ranks in one process. Where a shard
begins is computed here from the rule of `torch.chunk`, and each local tensor has to be that part of the matrix.
"""

from itertools import groupby

import torch
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

from inside_torch.drawing.checks import checked
from inside_torch.drawing.layout import MARGIN, NARROW, ROOM, code_width
from inside_torch.drawing.svg import group, path, rect, text

from .boxes import laid_out

CELL, APART, HEAD = 18, 10, 22  # side of a cell, from one grid to the next, height of a line of text above one
RANK = 44  # width of the words `rank 0` above a grid, which may be narrower


def placed_cells(whole: torch.Tensor, tensors: list[DTensor], *, title: str) -> str:
    """The matrix `whole`, of one-digit integers, under the placements of each DTensor: a grid for each rank, filled
    where the rank holds the cell, dashed where it holds a summand. A mesh of one dimension is a row of grids, one of
    two dimensions is rows and columns of them. Raises TypeError for what is no DTensor, ValueError for another matrix,
    for a mesh of more than two dimensions, for other placements, and where the local tensors do not make the whole."""
    checked(whole, torch.Tensor, "the whole")
    if whole.dim() != 2 or max(whole.shape) > 4 or not all(0 <= v < 10 and v == int(v) for v in whole.flatten()):
        raise ValueError("the whole must be a matrix of at most 4 x 4 integers of one digit")
    panels, rows = [], []
    for d in tensors:
        mesh = checked(d, DTensor, "each of the tensors").device_mesh.mesh
        if mesh.dim() > 2 or not all(type(p) in (Replicate, Shard, Partial) for p in d.placements):
            raise ValueError(f"{d.placements} on a mesh of {tuple(mesh.shape)} cannot be drawn")
        name, held = " ".join(map(str, d.placements)), _held(whole, d)
        panels.append((tuple(mesh.shape), name, mesh.reshape(-1, mesh.shape[-1]).tolist(), held))
        size = " x ".join(map(str, mesh.shape))
        for rank, (top, left, values, summand) in held.items():
            part = f"rows {top} to {top + len(values)}, columns {left} to {left + len(values[0] if values else [])}"
            rows.append([size, name, rank, part + ", of a sum" * summand, values])
    desc = f"The matrix {whole.int().tolist()} under the placements {', '.join(name for _, name, *_ in panels)}."
    columns = ["mesh", "placement", "rank", "holds (the end excluded)", "values"]
    return laid_out(title, desc, columns, rows, _draw, panels, tuple(whole.shape))


def _held(whole: torch.Tensor, d: DTensor) -> dict:
    """For each rank: first row and column of its part, the values, and whether they are summands."""
    mesh, local = d.device_mesh.mesh, d.to_local()
    pieces = getattr(local, "_local_tensors", dict.fromkeys(mesh.flatten().tolist(), local))
    made, held = {}, {}
    for place in torch.cartesian_prod(*map(torch.arange, mesh.shape)).reshape(-1, mesh.dim()).tolist():
        rank, ranges = mesh[tuple(place)].item(), [range(n) for n in whole.shape]
        for at, count, p in zip(place, mesh.shape, d.placements):
            if isinstance(p, Shard):
                each = -(-len(ranges[p.dim]) // count)  # as torch.chunk does: the last ones may be shorter, or empty
                ranges[p.dim] = ranges[p.dim][each * at : each * (at + 1)]
        part = tuple(slice(r.start, r.stop) for r in ranges)
        sums = [p for p in d.placements if isinstance(p, Partial)]
        if pieces[rank].shape != whole[part].shape or any(p.reduce_op != "sum" for p in sums):
            raise ValueError(f"rank {rank} holds {tuple(pieces[rank].shape)}, which {d.placements} does not say")
        group_of = tuple(0 if isinstance(p, Partial) else i for i, p in zip(place, d.placements))
        made[group_of] = part, made[group_of][1] + pieces[rank] if group_of in made else pieces[rank].detach()
        held[rank] = ranges[0].start, ranges[1].start, pieces[rank].int().tolist(), bool(sums)
    if not all(torch.equal(piece.to(whole.dtype), whole[part]) for part, piece in made.values()):
        raise ValueError(f"the local tensors do not make the whole under {d.placements}")
    return held


def _draw(panels: list, shape: tuple, wide: bool) -> tuple:
    """The shapes, width and height: the panels of a mesh in as few rows as fit, below the name of the mesh."""
    shapes, y, right, room = [], MARGIN, 0, ROOM if wide else NARROW
    for mesh, found in groupby(panels, key=lambda panel: panel[0]):
        shapes.append(text(MARGIN, y + 12, f"mesh of {' x '.join(map(str, mesh))} ranks", "it-name"))
        drawn = [_panel(*panel[1:], shape) for panel in found]
        width, height = drawn[0][1:]
        per = max(1, (room + APART) // (width + APART))
        gap = (room - per * width) / max(per - 1, 1) if len(drawn) >= per else APART
        y += HEAD
        for i, (body, *_) in enumerate(drawn):
            x = MARGIN + i % per * (width + min(gap, 40))
            shapes.append(group("it-panel", *body, transform=f"translate({x:g} {y + i // per * (height + 14):g})"))
            right = max(right, x + width)
        y += -(-len(drawn) // per) * (height + 14) + 10
    for tone, kind, said in (("it-1", "it-element", "the rank holds these cells"),
                             ("it-2", "it-element", "it holds a summand of each cell")):  # fmt: skip
        shapes += [group(tone, rect(MARGIN, y, 14, 14, kind)), text(MARGIN + 22, y + 12, said, "it-value")]
        right, y = max(right, MARGIN + 22 + code_width(said, 13)), y + 22
    return shapes, right + MARGIN, y + MARGIN


def _panel(name: str, ranks: list, held: dict, shape: tuple) -> tuple:
    """One placement: its name, then a grid for each rank, as the mesh has them; shapes, width and height."""
    high, wide = shape[0] * CELL, shape[1] * CELL
    each = max(wide, RANK)
    shapes = [text(0, 14, name, "it-name")]
    for i, line in enumerate(ranks):
        for j, rank in enumerate(line):
            x, y = j * (each + APART), HEAD + i * (high + HEAD + 8)
            shapes += [text(x, y + 14, f"rank {rank}", "it-note"), *_grid(x, y + HEAD, shape, *held[rank])]
    return shapes, len(ranks[0]) * (each + APART) - APART, HEAD + len(ranks) * (high + HEAD + 8) - 8


def _grid(x, y, shape: tuple, top: int, left: int, values: list, summand: bool) -> list:
    """The cells of the whole, tinted where this rank holds a value, with the values."""
    high, wide = shape[0] * CELL, shape[1] * CELL
    lines = [("M", x, y + i * CELL, "H", x + wide) for i in range(shape[0] + 1)]
    lines += [("M", x + j * CELL, y, "V", y + high) for j in range(shape[1] + 1)]
    shapes = [path(*(step for line in lines for step in line), kind="it-edge")]
    if values and values[0]:
        block = rect(x + left * CELL + 1, y + top * CELL + 1, len(values[0]) * CELL - 2, len(values) * CELL - 2,
                     "it-element")  # fmt: skip
        shapes.append(group("it-2" if summand else "it-1", block))
    for i, row in enumerate(values, top):
        middles = [(x + (j + 0.5) * CELL, str(value)) for j, value in enumerate(row, left)]
        shapes += [text(middle, y + i * CELL + 13.5, said, "it-value", "middle") for middle, said in middles]
    return shapes
