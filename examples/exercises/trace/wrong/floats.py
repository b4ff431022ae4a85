# says: This number was rounded
"""Counts in floats."""

from collections import Counter

from torch.autograd.graph import get_gradient_edge


def edges(node):
    return [(after, number) for after, number in node.next_functions if after is not None]


def ordered(root):
    """All nodes that root leads to, none before one that feeds it."""
    done, seen, stack = [], set(), [(root, False)]
    while stack:
        node, finished = stack.pop()
        if finished:
            done.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack += [(after, False) for after, _ in edges(node)]
    return done[::-1]


def route(loss, x):
    goal = get_gradient_edge(x).node
    nodes, leading = ordered(get_gradient_edge(loss).node), {goal}
    for node in reversed(nodes):
        if any(after in leading for after, _ in edges(node)):
            leading.add(node)
    return [node for node in nodes if node in leading - {goal}]


def paths(loss, x):
    start, target = get_gradient_edge(loss)[:2], get_gradient_edge(x)[:2]
    ways, arrived = Counter({start[0]: 1.0}), int(start == target)
    for node in ordered(start[0]):
        for edge in edges(node):
            ways[edge[0]] += ways[node]
            arrived += ways[node] if edge == target else 0
    return arrived
