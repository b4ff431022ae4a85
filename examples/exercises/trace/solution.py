"""Put the graph in order once; then each question is one walk along that order."""

from collections import Counter

from torch.autograd.graph import get_gradient_edge


def edges(node):
    return [(after, number) for after, number in node.next_functions if after is not None]


def ordered(root):
    """All nodes that root leads to, none before one with an edge to it."""
    nodes, waiting = [root], Counter()
    for node in nodes:  # the list grows while the loop runs
        for after, _ in edges(node):
            if after not in waiting:
                nodes.append(after)
            waiting[after] += 1  # the edges that lead to it
    ready = [root]
    for node in ready:
        for after, _ in edges(node):
            waiting[after] -= 1
            if waiting[after] == 0:
                ready.append(after)
    return ready


def route(loss, x):
    goal = get_gradient_edge(x).node
    nodes, leading = ordered(get_gradient_edge(loss).node), {goal}
    for node in reversed(nodes):
        if any(after in leading for after, _ in edges(node)):
            leading.add(node)
    return [node for node in nodes if node in leading and node is not goal]


def paths(loss, x):
    start, target = get_gradient_edge(loss)[:2], get_gradient_edge(x)[:2]
    ways = Counter({start[0]: 1})
    arrived = 1 if start == target else 0  # x is loss
    for node in ordered(start[0]):
        for edge in edges(node):
            ways[edge[0]] += ways[node]
            if edge == target:
                arrived += ways[node]
    return arrived
