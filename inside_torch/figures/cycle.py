"""The figure of a reference cycle: what each object names to Python's collector, and the owner that is silent."""

import gc
import sys

from inside_torch.drawing.checks import checked_dict
from inside_torch.drawing.layout import MARGIN, NARROW, widest
from inside_torch.drawing.svg import arrow, arrow_head, group, path, s_curve, text

from .boxes import LINE, Box, Place, laid_out

PAD, LOW = 8, 70  # around text; from the upper boxes to the lower ones
CORNERS = (0, 0), (1, 0), (1, 1), (0, 1)  # of the four objects, clockwise


def reference_cycle(objects: dict[str, object], silent: tuple[str, str], *, title: str) -> str:
    """Four objects in a ring, with an arrow from each one to those that it names to Python's garbage collector, itself
    or through tuples and cells. A dashed arrow leads from the first label of `silent`, an owner that does not name what
    it owns, to the second. Raises ValueError for another number of objects, where the first names the second after all,
    where the second has no owner that the collector does not find, and where the arrows do not close the ring."""
    checked_dict(objects, object, "objects", most=4)
    if len(objects) < 4:
        raise ValueError(f"a ring has 4 objects, got {len(objects)}")
    labels, names = list(objects), {label: _named(objects[label], objects) for label in objects}
    owner, owned = silent
    if owned in names[owner]:
        raise ValueError(f"{owner!r} names {owned!r} to the collector")
    count, found = _owners(objects[owned])
    if count <= found:
        raise ValueError(f"{owned!r} has {count} owners, and the collector finds {found}")
    for a, b in zip(labels, labels[1:] + labels[:1]):
        if b not in names[a] and (a, b) != silent:
            raise ValueError(f"{a!r} does not name {b!r}, so there is no ring")
    rows = [[label, type(objects[label]).__name__, ", ".join(names[label])] for label in labels]
    said = [f"{label}, of type {kind}, names {others or 'none of them'}" for label, kind, others in rows]
    desc = f"Four objects in a ring, and what each names to the collector. {'; '.join(said)}. "
    desc += f"A dashed arrow: {owner} owns {owned} and does not name it."
    edges = [(labels.index(a), labels.index(b), "it-1") for a in labels for b in names[a]]
    edges += [(labels.index(owner), labels.index(owned), "it-2")]
    return laid_out(title, desc, ["object", "type", "names"], rows, _draw, rows, edges)


def _named(one: object, objects: dict) -> list:
    """The labels of the objects that this one names to the collector, itself or through tuples and cells."""
    ahead, found = [one], []
    while ahead:
        named = gc.get_referents(ahead.pop())
        found += [label for label in objects if any(objects[label] is other for other in named)]
        ahead += [other for other in named if type(other).__name__ in ("tuple", "cell")]
    return [label for label in objects if label in found and objects[label] is not one]


def _owners(one: object) -> tuple[int, int]:
    """How many owners the object counts, less the variable and the argument here, and how many the collector finds."""
    count, found = sys.getrefcount(one) - 2, 0
    for owner in gc.get_referrers(one):
        found += [id(named) for named in gc.get_referents(owner)].count(id(one))
    return count, found


def _draw(rows: list, edges: list, wide: bool) -> list:
    """The boxes in two rows, which are as wide as a phone, with a legend below."""
    width, height = widest(line for row in rows for line in row[:2]) + 2 * PAD, 2 * LINE + PAD
    places = [Place(MARGIN + (NARROW - width) * x, MARGIN + (height + LOW) * y, width, height) for x, y in CORNERS]
    shapes = [shape for row, place in zip(rows, places) for shape in Box(row[:2], bold=row[0]).drawn(place, PAD)]
    shapes += [group(tone, *_edge(places[a], places[b])) for a, b, tone in edges]
    low = places[2].low + 24
    legend = ("solid: the collector is told", "dashed: it is not told")
    return [*shapes, *(text(MARGIN, low + LINE * i, said, "it-value") for i, said in enumerate(legend))]


def _edge(a: Place, b: Place) -> list:
    """An arrow between two corners: level, upright, or from one corner of the boxes to the other."""
    if a.y == b.y and a.x < b.x:
        return arrow(b.x - 2, b.level, "right", "M", a.right + 2, a.level)
    if a.y == b.y:
        return arrow(b.right + 2, b.level, "left", "M", a.x - 2, a.level)
    if a.x == b.x and a.y < b.y:
        return arrow(b.middle, b.y - 2, "down", "M", a.middle, a.low + 2)
    if a.x == b.x:
        return arrow(b.middle, b.low + 2, "up", "M", a.middle, a.y - 2)
    way, out = ("down", b.y - 2) if a.y < b.y else ("up", b.low + 2)
    start = a.low + 2 if a.y < b.y else a.y - 2
    near, end = (a.right - 20, b.x + 20) if a.x < b.x else (a.x + 20, b.right - 20)
    neck = out - 6 if way == "down" else out + 6
    return [path("M", near, start, *s_curve(near, start, end, neck)), arrow_head(end, out, way)]
