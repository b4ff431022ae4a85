"""The figure of segments: what a caching allocator holds of a device, step by step, in two panels or more.

A snapshot has the form of torch.cuda.memory._snapshot(): `segments`, each with its `total_size` in bytes and its
`blocks`, each with `size` and `state` (torch/cuda/_memory_viz.py reads the same)."""

from inside_torch.drawing.checks import checked_dict, checked_label
from inside_torch.drawing.layout import MARGIN, NARROW, ROOM, code_width
from inside_torch.drawing.svg import group, rect, text

from .boxes import laid_out

TEXT, HIGH, ROW, BETWEEN, MIB = 13, 26, 58, 32, 2**20  # text, height of a strip, from row to row, gap of panels
USED = {"active_allocated", "active_awaiting_free", "active_pending_free"}  # what torch says of a block in use


def segment_maps(panels: dict[str, list[tuple[str, dict]]], capacity: int, *, title: str) -> str:
    """For each panel a name and its steps, (what happened, the snapshot after it); each step is a strip as long as the
    device's `capacity` in MiB. A segment is a box in it; of its blocks those in use are filled, and what the device
    still has is dashed. Two panels stand side by side, and one below the other on a phone.

    Raises TypeError for panels that are no dict, and ValueError for blocks that do not fill their segment, for a state
    that torch does not know, for sizes that are not whole MiB, for segments larger than the device, for panels with
    unlike numbers of steps, and for what does not fit."""
    checked_dict(panels, list, "panels", most=2)
    if len({len(steps) for steps in panels.values()}) > 1 or not all(panels.values()):
        raise ValueError("each panel needs the same number of steps, one at least")
    read = {}
    for name, steps in panels.items():
        read[name] = [(checked_label(said, "a step"), _read(snapshot, capacity)) for said, snapshot in steps]
    rows = []
    for name, steps in read.items():
        for said, segments in steps:
            for at, blocks in enumerate(segments):
                rows += [[name, said, at + 1, size, "in use" if used else "free"] for size, used in blocks]
            left = capacity - sum(size for blocks in segments for size, _ in blocks)
            rows.append([name, said, "none", left, "not reserved"])
    told = "; ".join(f"{name}: {', then '.join(said for said, _ in steps)}" for name, steps in read.items())
    desc = f"Segments and blocks on a device of {capacity} MiB after each step. {told}."
    width, high = (ROOM - BETWEEN) / 2, 24 + ROW * len(next(iter(read.values())))

    def draw(wide: bool) -> tuple:
        shapes, right, low = [], (ROOM if wide else NARROW) + 2 * MARGIN, high + 2 * MARGIN
        for i, (name, steps) in enumerate(read.items()):
            place = (i * (width + BETWEEN), 0, width) if wide else (0, i * (high + 16), NARROW)
            shapes += _panel(name, steps, capacity, *place)
        return shapes, right, low if wide else low + (len(read) - 1) * (high + 16)

    return laid_out(title, desc, ["panel", "after", "segment", "MiB", "state"], rows, draw)


def _read(snapshot: dict, capacity: int) -> list:
    """For each segment its blocks, (MiB, in use)."""
    segments = []
    for segment in snapshot["segments"]:
        sizes, states = zip(*((block["size"], block["state"]) for block in segment["blocks"]))
        if sum(sizes) != segment["total_size"]:
            raise ValueError(f"blocks of {sum(sizes)} bytes do not fill a segment of {segment['total_size']}")
        if unknown := set(states) - USED - {"inactive"}:
            raise ValueError(f"unknown state {unknown.pop()!r}")
        if any(size % MIB for size in sizes):
            raise ValueError("sizes are whole MiB")
        segments.append([(size // MIB, state in USED) for size, state in zip(sizes, states)])
    if (held := sum(size for blocks in segments for size, _ in blocks)) > capacity:
        raise ValueError(f"segments of {held} MiB on a device of {capacity}")
    return segments


def _panel(name: str, steps: list, capacity: int, left, top, width) -> list:
    """The strips of one panel below each other, from (left, top) on."""
    unit, x0 = width / capacity, MARGIN + left
    if max(code_width(said, TEXT) for said in [name, *(said for said, _ in steps)]) > width:
        raise ValueError(f"the words of {name!r} are wider than its panel")
    shapes = [text(x0, top + MARGIN + 13, name, "it-name")]
    for i, (said, segments) in enumerate(steps):
        y, x = top + MARGIN + 42 + i * ROW, x0
        shapes.append(text(x0, y - 6, said, "it-value"))
        for blocks in segments:
            shapes.append(rect(x + 1, y, sum(size for size, _ in blocks) * unit - 2, HIGH, "it-pill", 2))
            ends = x + 3.5, x + sum(size for size, _ in blocks) * unit - 3.5
            for size, used in blocks:  # neighbors touch, so that no white between them looks like free memory
                first, last = max(x + 0.8, ends[0]), min(x + size * unit - 0.8, ends[1])
                mark = rect(first, y + 3, last - first, HIGH - 6, "it-element")
                shapes += [*([group("it-1", mark)] if used else []), *_size(x, y, size, unit)]
                x += size * unit
        if left_over := capacity - sum(size for blocks in segments for size, _ in blocks):
            shapes += [rect(x + 1, y, left_over * unit - 2, HIGH, "it-edge it-dashed"), *_size(x, y, left_over, unit)]
    return shapes


def _size(x, y, size: int, unit) -> list:
    """The size of a block in its middle, where there is room for it."""
    fits = code_width(str(size), TEXT) + 4 <= size * unit
    return [text(x + size * unit / 2, y + HIGH / 2 + 4.5, str(size), "it-value", "middle")] if fits else []
