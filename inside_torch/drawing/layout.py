"""Layout: how wide text is, and where things stand so that no two of them meet."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import pairwise
from math import ceil, inf
from statistics import fmean

from .svg import s_curve

CELL = 26  # side of a cell; twelve of them and the margin fit a phone 360 px wide
MARGIN = 4  # around every figure
WIDE, PHONE, READ = 688, 328, 13  # px: the width of the text on a desktop and on a phone, the size of what is read
ROOM, NARROW = WIDE - 4 * MARGIN, PHONE - 2 * MARGIN  # what a figure may fill of them
CODE = 0.602  # advance of one character in the usual monospaced fonts, in em


def code_width(string: str, size=12) -> int:
    """Width of monospaced text, `size` in px. Characters outside Latin-1 count as two."""
    return ceil(sum(1 if ord(char) < 256 else 2 for char in string) * size * CODE)


def widest(strings: Iterable, size=READ) -> int:
    """Width of the longest of monospaced texts."""
    return max((code_width(string, size) for string in strings), default=0)


def scale(ends: tuple, at_first: float, at_second: float) -> Callable[[float], float]:
    """The linear map that takes the two ends to two places in the figure."""
    slope = (at_second - at_first) / (ends[1] - ends[0])
    return lambda value: at_first + (value - ends[0]) * slope


def spread(wanted: list, widths: list, gap) -> list:
    """Centres as near as can be to the wanted ones, kept in order and `gap` apart. The mean of the leftmost packing and
    the rightmost one: both keep the distances, so it does."""
    from_left, from_right = list(wanted), list(wanted)
    apart = [(a + b) / 2 + gap for a, b in pairwise(widths)]
    for i, distance in enumerate(apart):
        from_left[i + 1] = max(wanted[i + 1], from_left[i] + distance)
    for i, distance in reversed(list(enumerate(apart))):
        from_right[i] = min(wanted[i], from_right[i + 1] - distance)
    return [(a + b) / 2 for a, b in zip(from_left, from_right)]


def fan(count: int, step, room) -> list:
    """Offsets of `count` lines that share an end, `step` apart or as near as `room` allows."""
    step = min(step, room / max(count - 1, 1))
    return [(i - (count - 1) / 2) * step for i in range(count)]


def lanes(spans: list) -> dict:
    """A lane for each span (from, to), so that two spans in one lane never overlap; short ones inside."""
    chosen = {}
    for a, b in sorted(set(spans), key=lambda span: (span[1] - span[0], span)):
        taken = {lane for (c, d), lane in chosen.items() if a < d and c < b}
        chosen[a, b] = min(set(range(len(taken) + 1)) - taken)
    return chosen


def layered(sizes: list, edges: list, gap, beside, under: Iterable = ()) -> tuple:
    """Vertices 0, 1, ... of these (width, height) in levels, `gap` apart, and in a level `beside` each other, joined by
    the edges (from, to). Returns where each vertex has the middle of its upper edge, level by level; the path of each
    edge as SVG commands and numbers, to where an arrow's head begins; width and height. A level is as far below the
    first one as its longest way, where a pair in `under` is a step of a way that is not drawn. An edge that passes a
    level gets a vertex of its own there, so that nothing stands in its way."""
    levels, ways = _levels(len(sizes), edges, under)
    near = defaultdict(list)  # (vertex, is it above) -> (neighbour on the next level, edge), for each edge
    for edge, way in enumerate(ways):
        for above, below in pairwise(way):
            near[above, True].append((below, edge))
            near[below, False].append((above, edge))
    _uncross(levels, near)
    widths, heights = zip(*sizes, *[(6, 0)] * (sum(map(len, levels)) - len(sizes)))
    centres = _centres(levels, near, widths, beside)
    places, bottoms, y = {}, {}, MARGIN
    for level in levels:
        high = max(heights[vertex] for vertex in level)
        places |= {vertex: (centres[vertex], y) for vertex in level}
        bottoms |= dict.fromkeys(level, y + high)
        y += high + gap
    ends = {}  # (edge, vertex) -> x: edges at one card fan out, in the order of x
    for (vertex, _), found in near.items():
        beside = sorted((centres[other], edge) for other, edge in found)
        for (_, edge), shift in zip(beside, fan(len(beside), 16, 96)):
            ends[edge, vertex] = centres[vertex] + shift
    paths = []
    for edge, way in enumerate(ways):
        steps = ["M", ends[edge, way[0]], places[way[0]][1] + heights[way[0]]]
        for above, below in pairwise(way):
            x0, y0, x1, y1 = ends[edge, above], bottoms[above], ends[edge, below], places[below][1]
            steps += ["V", y0, *s_curve(x0, y0, x1, y1 - 6 * (below == way[-1]))]
        paths.append(steps)
    width = max(centre + widths[vertex] / 2 for vertex, centre in centres.items())
    return places, paths, width + MARGIN, y - gap + MARGIN


def _levels(count: int, edges: list, under: Iterable) -> tuple:
    """Vertices by level, and each edge as the vertices it passes, new ones numbered from `count` on."""
    import networkx  # only graphs and contours need it, and a block starts faster without

    graph = networkx.MultiDiGraph([*edges, *under])
    graph.add_nodes_from(range(count))
    levels = [sorted(level) for level in networkx.topological_generations(graph)]
    depth = {vertex: i for i, level in enumerate(levels) for vertex in level}
    ways = []
    for a, b in edges:
        between = range(depth[a] + 1, depth[b])
        passed = range(count, count + len(between))
        for level, vertex in zip(between, passed):
            levels[level].append(vertex)
        ways.append([a, *passed, b])
        count += len(passed)
    return levels, ways


def _uncross(levels: list, near: dict) -> None:
    """Sort each level by the mean place of its neighbours, down and up again, so that edges cross little;
    ties in the order of the edges, so that what belongs to the first input stands left."""
    for upper in [True, False] * 3:
        for beside, level in pairwise(levels[::-1] if upper else levels):
            place = {vertex: (i + 0.5) / len(beside) for i, vertex in enumerate(beside)}
            means = {v: fmean([place[other] for other, _ in near[v, upper]] or [0.5]) for v in level}
            first = {v: near[v, upper][0][1] if near[v, upper] else inf for v in level}
            level.sort(key=lambda vertex: (means[vertex], first[vertex]))


def _centres(levels: list, near: dict, widths: list, apart) -> dict:
    """Horizontal centre of each vertex: under the middle of those above it, then over the middle of those below, as
    far as the widths allow."""
    centres = dict.fromkeys(range(len(widths)), 0.0)
    for upper in [False, True, False, True]:
        for level in reversed(levels) if upper else levels:
            beside = [[centres[other] for other, _ in near[vertex, upper]] for vertex in level]
            wanted = [fmean(places or [centres[vertex]]) for places, vertex in zip(beside, level)]
            centres.update(zip(level, spread(wanted, [widths[vertex] for vertex in level], apart)))
    left = min(centre - widths[vertex] / 2 for vertex, centre in centres.items())
    return {vertex: centre - left + MARGIN for vertex, centre in centres.items()}
