"""The figure of an allocator at work: its segments and blocks after each of a few calls.

A segment is a dict as torch.cuda.memory._snapshot() has it: `address`, `total_size` and `blocks`, in the order of their
addresses; a block has `size` and `state`.
"""

from inside_torch.drawing.layout import MARGIN, NARROW, READ, ROOM, code_width
from inside_torch.drawing.svg import group, rect, text

from .boxes import laid_out

MIB, HIGH, BETWEEN = 2**20, 24, 8  # of a strip; between two segments
CALLS = code_width("d = malloc(88 MiB)", READ)
EVENTS = code_width("new segment, split", READ)


def segment_strips(allocator, calls: list, *, title: str) -> str:
    """Runs `calls` on an allocator that has `malloc(size)`, `free(address)` and `segments`, and draws a row for each:
    the call, what it did, and every segment as a strip of blocks, those in use with the name of their tensor and the
    MiB that it asked for. A call is (name, MiB) to allocate and (name,) to free. Raises ValueError where the blocks do
    not tile a segment, where an address is no block in use, where two free blocks touch, and for what does not fit."""
    addresses, asked, rows = {}, {}, []
    for name, *size in calls:
        before = [len(segment["blocks"]) for segment in allocator.segments]
        if size:
            addresses[name], asked[name] = allocator.malloc(size[0] * MIB), size[0]
        else:
            allocator.free(addresses.pop(name))
        names = {address: f"{name} {asked[name]}" for name, address in addresses.items()}
        strips = [_blocks(segment, names) for segment in allocator.segments]
        if found := set(names.values()) - {said for strip in strips for said, _ in strip}:
            raise ValueError(f"no block in use is at the address of {sorted(found)}")
        code = f"{name} = malloc({size[0]} MiB)" if size else f"free({name})"
        rows.append((code, _event(bool(size), before, [len(strip) for strip in strips]), strips))
    totals = [sum(size for strip in strips for _, size in strip) / MIB for _, _, strips in rows]
    gaps = BETWEEN * (max(len(strips) for _, _, strips in rows) - 1)
    unit = (ROOM - CALLS - EVENTS - 36 - gaps) / max(totals)
    small = (NARROW - gaps) / max(totals)
    widest = max(
        code_width(said, READ) + 4 - size / MIB * small for _, _, s in rows for strip in s for said, size in strip
    )
    if widest > 0 or small < 2:
        raise ValueError("a block is too narrow for its name on a phone")
    table = [[code, event, _said(strips)] for code, event, strips in rows]
    desc = "; ".join(f"{code}: {event}, {strips}" for code, event, strips in table)
    columns = ["call", "what it does", "segments, MiB"]
    return laid_out(title, desc, columns, table, _draw, rows, unit, small)


def _blocks(segment: dict, names: dict) -> list:
    """The blocks of a segment as (what stands in it, bytes); nothing stands in a free one."""
    blocks, end, free = [], segment["address"], False
    for block in segment["blocks"]:
        used = block["state"] != "inactive"
        if block["address"] != end or (free and not used):
            raise ValueError(f"the block at {block['address'] - segment['address']} does not follow the one before it")
        if used and end not in names:
            raise ValueError("a block is in use that no call allocated")
        blocks.append((names[end] if used else "", block["size"]))
        end, free = end + block["size"], not used
    if end != segment["address"] + segment["total_size"]:
        raise ValueError("the blocks do not tile the segment")
    return blocks


def _event(malloc: bool, before: list, after: list) -> str:
    """What a call did, by the number of blocks of each segment before it and after it."""
    if len(after) > len(before):
        return "new segment" + (", split" if after[-1] > 1 else "")
    if len(after) < len(before):
        raise ValueError("a call gave a segment back")
    if malloc:
        return "split" if sum(after) > sum(before) else "taken whole"
    return "merged" if sum(after) < sum(before) else "not merged"


def _said(strips: list) -> str:
    """Segments in words: what each block has in it, or `free` and its MiB."""
    return " | ".join(", ".join(said or f"free {size / MIB:g}" for said, size in strip) for strip in strips)


def _strips(strips: list, x, y, unit) -> list:
    shapes = []
    for strip in strips:
        start = x
        for said, size in strip:
            wide = size / MIB * unit
            if said:
                shapes.append(group("it-1", rect(x + 1.5, y + 1.5, wide - 3, HIGH - 3, "it-element", 3)))
            free = f"{size / MIB:g}"
            if said or wide > code_width(free, READ) + 6:
                shapes.append(text(x + wide / 2, y + 17, said or free, "it-value" + " it-note" * (not said), "middle"))
            x += wide
        shapes.append(rect(start, y, x - start, HIGH, "it-edge", 4))
        x += BETWEEN
    return shapes


def _draw(rows: list, unit, small, wide: bool) -> tuple:
    """A row for each call, with a MiB as long as `unit`; on a phone, where it is `small`, call and event stand above
    their strips."""
    x, top, high = (MARGIN + CALLS + EVENTS + 36, 0, HIGH + 10) if wide else (MARGIN, 20, HIGH + 34)
    at, low, anchor = (MARGIN + CALLS + 18, 17, "start") if wide else (MARGIN + NARROW, 13, "end")
    shapes, y = [], MARGIN
    for code, event, strips in rows:
        shapes += [text(MARGIN, y + low, code, "it-name"), text(at, y + low, event, "it-value", anchor)]
        shapes += _strips(strips, x, y + top, unit if wide else small)
        y += high
    return shapes, (ROOM if wide else NARROW) + 2 * MARGIN, y - (10 if wide else 14) + MARGIN
