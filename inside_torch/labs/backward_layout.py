"""Where the lab backward-replay draws a graph: a row for each node, below the line of the program that made it."""

from itertools import pairwise
from textwrap import wrap

from inside_torch.drawing.layout import layered

from .backward_run import Run

ROW, MARK, HEAD, TEXT = 40, 20, 34, 17  # px: a row, the mark of a node, a line of the program and one more line


def placed(run: Run, edges: list, lines: list, least: int, room: int) -> dict:
    """Where the marks of the nodes stand, `least` px wide and one in each row, the ways of the edges, and the lines of
    the program in `room` characters, each above its nodes: backward runs upwards."""
    count = len(run.nodes)
    last = {n: max(i for i in range(count) if run.lines[i] == n) for n in sorted(set(run.lines))}
    after = zip([0, *(n + 1 for n in last)], last)  # lines that left no node stand with the next that did
    heads = {last[n]: [text for line in lines[start : n + 1] for text in wrap(line, room)] for start, n in after}
    high = {i: HEAD + TEXT * (len(text) - 1) for i, text in heads.items()}
    wide = [max(least, 16 * max(sum(e[side] == i for e in edges) for side in (0, 1))) for i in range(count)]
    sizes = [(wide[i], MARK + high.get(i, 0)) for i in range(count)]
    beside = least - MARK
    places, ways, width, height = layered(sizes, [e[:2] for e in edges], ROW - MARK, beside, pairwise(range(count)))
    up = [round(height - places[i][1]) for i in range(count)]
    drawn = []
    for (a, b, _), way in zip(edges, ways):
        way[2] = places[a][1] + MARK  # not below the line of the program
        drawn.append([mirrored(way, height), round(way[-2]), up[b]])
    middles = [[round(places[i][0]), up[i] - MARK // 2, round(wide[i])] for i in range(count)]
    lowest = {n: up[run.lines.index(n)] for n in last}
    bands = [[up[i] - MARK - high[i], lowest[run.lines[i]], text] for i, text in heads.items()]
    return {"nodes": middles, "edges": drawn, "bands": bands, "width": round(width), "height": round(height)}


def mirrored(way: list, height: float) -> str:
    """The path of an edge upside down, as SVG has it."""
    said, kind, turn = "", "", 0
    for part in way:
        if isinstance(part, str):
            kind, turn = part, int(part == "V")
            said += part
        else:
            said += f"{round(height - part if turn else part)} "
            turn = 1 if kind == "V" else 1 - turn
    return said.replace(" M", "M").replace(" V", "V").replace(" C", "C").strip()
