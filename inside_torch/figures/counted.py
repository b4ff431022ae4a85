"""The figure of counts: a bar for each thing that was counted, in parts of one kind each."""

from inside_torch.drawing.checks import checked_dict
from inside_torch.drawing.layout import MARGIN, NARROW, ROOM, code_width
from inside_torch.drawing.svg import group, rect, text

from .boxes import laid_out

ROW, HIGH, TEXT = 46, 18, 13  # from one bar to the next, a bar, size of text
MOST = 6  # bars


def count_bars(bars: dict[str, dict[str, int]], *, title: str) -> str:
    """A bar for each name, below the name, in parts: one for each count above 0, as long as the count and with the
    count in it. The key stands above the bars. All bars have the same two kinds of parts. Raises TypeError for what is
    no dict and no whole number, ValueError for bars of unlike kinds, for counts below 0, for bars that are all empty,
    and for a part or a name that does not fit."""
    kinds = list(next(iter(checked_dict(bars, dict, "bars", MOST).values())))
    for name, parts in bars.items():
        if list(checked_dict(parts, int, "parts", 2)) != kinds:
            raise ValueError(f"each bar has the parts {kinds}, and {name!r} has {list(parts)}")
        if min(parts.values()) < 0:
            raise ValueError(f"{name!r} has a count below 0")
    most = max(sum(parts.values()) for parts in bars.values())
    if not most:
        raise ValueError("all counts are 0, and the figure has nothing to draw")
    rows = [[name, *parts.values()] for name, parts in bars.items()]
    told = [f"{name}: {', '.join(f'{n} {kind}' for kind, n in parts.items())}." for name, parts in bars.items()]
    return laid_out(title, " ".join(told), ["bar", *kinds], rows, _draw, bars, kinds, most)


def _draw(bars: dict, kinds: list, most: int, wide: bool) -> tuple:
    """The key in a row on a desktop and in a column on a phone, then the bars."""
    room, shapes, x, y = ROOM if wide else NARROW, [], MARGIN, MARGIN
    for tone, kind in enumerate(kinds, 1):
        said = text(x + 22, y + 13, kind, "it-value")
        shapes.append(group(f"it-{tone}", rect(x + 1, y + 1, 14, 14, "it-element"), said))
        if x + 22 + code_width(kind, TEXT) > MARGIN + room:
            raise ValueError(f"{kind!r} is wider than the figure")
        x, y = (x + 50 + code_width(kind, TEXT), y) if wide else (x, y + 22)
    y += 32 if wide else 10
    for name, parts in bars.items():
        if code_width(name, TEXT) > room:
            raise ValueError(f"{name!r} is wider than the figure")
        shapes.append(text(MARGIN, y + 13, name, "it-name"))
        x = MARGIN + 1
        for tone, count in ((tone, count) for tone, count in enumerate(parts.values(), 1) if count):
            length = count / most * (room - 2)
            if code_width(str(count), TEXT) + 6 > length:
                raise ValueError(f"the part of {count} in {name!r} has no room for its number")
            said = text(x + length / 2, y + 20 + HIGH / 2 + 4.5, str(count), "it-value", "middle")
            shapes.append(group(f"it-{tone}", rect(x + 0.8, y + 20, length - 1.6, HIGH, "it-element"), said))
            x += length
        y += ROW
    return shapes, room + 2 * MARGIN, y
