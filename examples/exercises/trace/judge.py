"""Compare a route with what the engine runs, observed through hooks, and count the paths in small and huge graphs."""

import functools
import random
from collections import Counter
from pathlib import Path

import torch
from check import Wrong, calls, compare
from torch.autograd.graph import get_gradient_edge

START = "w, v = torch.ones(2, 3, requires_grad=True), torch.ones(2, 3, requires_grad=True)"
PROGRAMS = [
    "loss = (w * 2).exp().sum(); x = w",
    "loss = (w.sin() * v.cos()).sum(); x = w",
    "loss = (w.sin() * v.cos()).sum(); x = v",
    "loss = (w * w).sum(); x = w",
    "loss = (w.sin().cos().exp() + w).sum(); x = w",
    "y = w.exp(); loss = (y * y + y.sin()).sum(); x = y",
    "y = w.exp(); loss = (y + v).sum(); x = w",
    "loss = v.sum(); x = w",
    "loss = (w * v).sum(); x = loss",
    "a, b = w.unbind(); loss = a; x = b",
    "a, b = w.unbind(); loss = (b * 2).sum(); x = a",
    "a, b = w.unbind(); loss = (a * b).sum(); x = a",
    "a, b = w.unbind(); loss = (a * b).sum(); x = w",
]
DEEP = "y = w\nfor _ in range(1500): y = y.sin()\nloss = y.sum(); x = w"
STAIRS = "y = w\nfor _ in range(60): y = y + y + y\nloss = y.sum(); x = w"


class Code(str):
    """A program, shown as it stands."""

    __slots__ = ()
    __repr__ = str.__str__


def edges(node):
    return [edge for edge in node.next_functions if edge[0] is not None]


class Graph:
    """What a program leaves: loss, x, and the nodes behind the loss with a label for each."""

    def __init__(self, code):
        names = {"torch": torch}
        exec(f"{START}\n{code}", names)
        self.loss, self.x = names["loss"], names["x"]
        self.start, self.target = (get_gradient_edge(t)[:2] for t in (self.loss, self.x))
        self.nodes, todo = [], [self.start[0]]
        seen = set(todo)
        while todo:
            node = todo.pop()
            self.nodes.append(node)
            for after, _ in edges(node):
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
        count, self.labels = Counter(), {}
        for node in self.nodes:
            name = node.name().rpartition("::")[2]
            count[name] += 1
            self.labels[id(node)] = f"{name}#{count[name]}" if count[name] > 1 else name

    def names(self, nodes):
        return tuple(self.labels.get(id(node), f"a node that loss does not lead to, {node!r}") for node in nodes)


@functools.cache
def graph(code):
    return Graph(code)


def engines(code):
    """The nodes that the engine runs for the gradient of x, in the engine's order."""
    drawn, ran = graph(code), []
    hooks = [node.register_prehook(lambda _, node=node: ran.append(node)) for node in drawn.nodes]
    torch.autograd.grad(drawn.loss, drawn.x, torch.ones_like(drawn.loss), retain_graph=True, allow_unused=True)
    for hook in hooks:
        hook.remove()
    return ran


def within(drawn, function):
    """Call a learner's function on a graph, and stop it when it follows the paths one by one."""
    left = [20_000 + 20 * len(drawn.nodes) ** 2]

    def count(file, name):
        left[0] -= 1
        if Path(file).parent.name == "autograd" and name in ("grad", "backward"):
            raise Wrong(
                f"{function.__name__}(loss, x) runs a backward pass and watches it. The check itself finds the "
                "answer that way. Find yours before anything runs, from grad_fn and next_functions."
            )
        if left[0] < 0:
            raise Wrong(
                f"{function.__name__}(loss, x) goes on and on in a graph of {len(drawn.nodes)} nodes. You may have "
                "followed each path by itself, and the number of paths may double at every node. Visit each node "
                "once, and keep what you found out about it."
            )

    try:
        with calls(count):
            return function(drawn.loss, drawn.x)
    except RecursionError:
        raise Wrong(
            f"{function.__name__}(loss, x) ran out of Python's stack in a graph of {len(drawn.nodes)} nodes in a "
            "row. Real graphs are deeper than Python's limit on recursion. Keep a list of the nodes that are still "
            "to be visited."
        ) from None


def listed(nodes, code):
    return tuple(sorted(graph(code).names(nodes)))


def in_order(drawn):
    """The nodes, none before one that feeds it."""
    feeding = Counter(after for node in drawn.nodes for after, _ in edges(node))
    order, ready = [], [drawn.start[0]]
    while ready:
        order.append(ready.pop())
        for after, _ in edges(order[-1]):
            feeding[after] -= 1
            if not feeding[after]:
                ready.append(after)
    return order


def leading(drawn, edge_fits):
    """The nodes that lead to an edge that fits."""
    found = set()
    for node in reversed(in_order(drawn)):
        if any(edge_fits(edge) or edge[0] in found for edge in edges(node)):
            found.add(node)
    return found


def behind(code):
    return listed([node for node in graph(code).nodes if edges(node)], code)


def whole(code):
    return listed(graph(code).nodes, code)


def first_edges(code):
    drawn = graph(code)
    node, found = drawn.start[0], []
    while edges(node) and node is not drawn.target[0]:
        found.append(node)
        node = edges(node)[0][0]
    return listed(found, code)


def with_target(code):
    drawn = graph(code)
    return listed(leading(drawn, lambda e: e[0] is drawn.target[0]) | {drawn.target[0]}, code)


def by_number(code):
    drawn = graph(code)
    return listed(leading(drawn, lambda e: e == drawn.target), code)


def equal_values(code):
    drawn = graph(code)

    def fits(edge):
        variable = getattr(edge[0], "variable", None)
        return edge[0] is drawn.target[0] or (variable is not None and torch.equal(variable, drawn.x))

    return listed(leading(drawn, fits) - {drawn.target[0]}, code)


def once_an_edge(code):
    """Each node of the route as often as a walk that never looks back meets it, up to a limit."""
    drawn, ways = graph(code), Counter({graph(code).start[0]: 1})
    for node in in_order(drawn):
        for after, _ in edges(node):
            ways[after] += min(ways[node], 100)
    kept = leading(drawn, lambda e: e[0] is drawn.target[0])
    return listed([node for node in kept for _ in range(ways[node])], code)


ROUTES = {
    "You may have listed nodes that loss leads to, whether x lies behind them or not. Keep a node when one of its "
    "edges arrives at x, or at a node that you keep.": behind,
    "You may have listed every node that loss leads to. Keep a node when one of its edges arrives at x, or at a node "
    "that you keep.": whole,
    "You may have followed the first entry of next_functions only. Every entry is an edge, and a gradient flows "
    "along each.": first_edges,
    "You may have thought that the last node has to run. The node of x itself is listed, but it does not run: its "
    "input is already the gradient that was asked for.": with_target,
    "You may have looked for edges to the very output that x is. The engine plans by nodes. It runs every node that "
    "leads to the node of x, even when no gradient arrives for this output.": by_number,
    "You may have compared values. Another leaf has the same values as x, and your function did not tell the two "
    "apart. Compare nodes: get_gradient_edge(x) has the node of x.": equal_values,
    "You may have followed each path by itself. A node on several paths was listed once for each. The engine runs "
    "such a node once: it waits until all of the node's gradients have arrived, and adds them.": once_an_edge,
}


def proven(code):
    """The number of ways, after torch has confirmed whether there is any."""
    drawn, ways = graph(code), ways_to(code)
    (grad,) = torch.autograd.grad(
        drawn.loss, drawn.x, torch.ones_like(drawn.loss), retain_graph=True, allow_unused=True
    )
    assert (grad is None) == (ways == 0), code
    return ways


def ways_to(code, fits=lambda drawn, edge: edge == drawn.target, distinct=False, arrivals=False):
    drawn = graph(code)
    if drawn.start == drawn.target:
        return 1
    ways = Counter({drawn.start[0]: 1})
    total = 0
    for node in in_order(drawn):
        for edge in set(edges(node)) if distinct else edges(node):
            ways[edge[0]] += ways[node]
            total += (1 if arrivals else ways[node]) if fits(drawn, edge) else 0
    return total


PATHS = {
    "You may have counted the edges that arrive at x. The node before such an edge may be reached on several paths, "
    "and each of them counts: add them up along the graph.": functools.partial(ways_to, arrivals=True),
    "You may have collected the edges in a set. Two edges between the same nodes count once in a set. In w * w both "
    "factors are w and each gets a gradient, so there are two paths.": functools.partial(ways_to, distinct=True),
    "You may have compared nodes only. Here it matters which output x is: an edge leads to a node and an output "
    "number, and a gradient that arrives at another number is not that of x.": functools.partial(
        ways_to, fits=lambda drawn, edge: edge[0] is drawn.target[0]
    ),
    "You may have thought that two outputs of one node are connected. No edge leads from one output of a node to "
    "another, so there is no path from this loss to this x.": lambda code: (
        1 if graph(code).start[0] is graph(code).target[0] else ways_to(code)
    ),
    "You may have counted with floats. This number was rounded: a float holds 53 bits, and the number of paths may "
    "need more, even in a small graph. Count in integers.": lambda code: float(ways_to(code)),
    "You may have counted steps. From loss to loss there is one path, the one without a step.": lambda code: (
        0 if graph(code).start == graph(code).target else ways_to(code)
    ),
}


def drawn_program(draw):
    """A random program of six operations over w and v."""
    names, lines = ["w", "v"], []
    for number in range(6):
        a, b = draw.choices(names[-4:], k=2)
        lines.append(
            f"t{number} = " + draw.choice([f"{a} * {b}", f"{a} + {b}", f"{a}.sin()", f"{a} * 2", f"{a} + {a}"])
        )
        names.append(f"t{number}")
    return "; ".join([*lines, f"loss = t5.sum(); x = {draw.choice(['w', 'v', 't0', 't2'])}"])


def out_of_order(drawn, nodes):
    """A node of the route and one later in it that feeds it, or None."""
    place = {node: at for at, node in enumerate(nodes)}
    for node in nodes:
        for after, _ in edges(node):
            if place.get(after, len(nodes)) < place[node]:
                return after, node
    return None


def check(work):
    draw = random.Random(0)
    programs = [Code(code) for code in (*PROGRAMS, *(drawn_program(draw) for _ in range(40)), DEEP, STAIRS)]

    def mine(code):
        nodes = within(graph(code), work.route)
        if not isinstance(nodes, list | tuple):
            raise Wrong(f"route(loss, x) gave {nodes!r}, but a list of nodes was expected")
        return listed(nodes, code)

    compare(
        "the names of route(loss, x), sorted, after ",
        [(code,) for code in programs],
        mine,
        lambda code: listed(engines(code), code),
        ROUTES,
        "Expected are the nodes whose hooks were called while torch.autograd.grad(loss, x) ran.",
    )
    for code in programs:
        drawn = graph(code)
        nodes = work.route(drawn.loss, drawn.x)
        if early := out_of_order(drawn, nodes):
            before, after = drawn.names(early)
            raise Wrong(
                f"route(loss, x) after ({code})\n  gave      {drawn.names(nodes)}\n{before} stands before {after}, "
                "which has an edge to it. A node can run when the last of its gradients has arrived, not when the "
                "first has."
            )
    compare(
        "paths(loss, x) after ",
        [(code,) for code in programs],
        lambda code: within(graph(code), work.paths),
        proven,
        PATHS,
        "No path means that torch.autograd.grad returns None. The paths to a node are the paths to all that feed it, "
        "added up, an edge at a time.",
    )
