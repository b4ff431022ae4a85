"""Backward is two walks: count what each node waits for, then run the newest node that waits for nothing."""

import heapq
import itertools
import random
from collections import Counter

import torch

clock = itertools.count()


# --8<-- [start:graph]
class Node:
    def __init__(self, name, rule, saved, inputs):
        self.name, self.rule, self.saved = name, rule, saved
        self.edges = [x.edge for x in inputs]
        self.sequence_nr = next(clock)

    def run(self, grads):
        return self.rule(*grads, *self.saved)


class AccumulateGrad:
    name, edges, sequence_nr = "AccumulateGrad", [], 2**64 - 1

    def __init__(self, leaf):
        self.leaf = leaf

    def run(self, grads):
        old = self.leaf.grad
        self.leaf.grad = grads[0] if old is None else old + grads[0]
        return []


class Value:
    def __init__(self, data, requires_grad=False, edge=None):
        self.data, self.grad = data, None
        self.edge = (AccumulateGrad(self), 0) if requires_grad else edge


# --8<-- [end:graph]
# --8<-- [start:engine]
def backward(result, grad):
    root, number = result.edge
    waits_for, found = Counter(), [root]
    for node in found:
        for following, _ in filter(None, node.edges):
            if following not in waits_for:
                found.append(following)
            waits_for[following] += 1
    arrived, ready, order = {root: {number: grad}}, [(0, 0, root)], []
    while ready:
        node = heapq.heappop(ready)[-1]
        order.append(node)
        grads = [grad for _, grad in sorted(arrived.pop(node).items())]
        for edge, grad in zip(node.edges, node.run(grads)):
            if edge is not None:
                following, number = edge
                sums = arrived.setdefault(following, {})
                sums[number] = sums[number] + grad if number in sums else grad
                waits_for[following] -= 1
                if not waits_for[following]:
                    entry = -following.sequence_nr, next(clock), following
                    heapq.heappush(ready, entry)
    return order


# --8<-- [end:engine]
# --8<-- [start:rules]
RULES = {  # forward, backward from the gradients and what is saved, what to save
    "Add": (torch.add, lambda g: [g, g], lambda a, b, y: []),
    "Mul": (torch.mul, lambda g, a, b: [g * b, g * a], lambda a, b, y: [a, b]),
    "Mm": (torch.mm, lambda g, a, b: [g @ b.T, a.T @ g], lambda a, b, y: [a, b]),
    "Sin": (torch.sin, lambda g, a: [g * a.cos()], lambda a, y: [a]),
    "Tanh": (torch.tanh, lambda g, y: [g * (1 - y * y)], lambda a, y: [y]),
    "Split": (lambda a: a.split(1), lambda *g: [torch.cat(g)], lambda a, y: []),
    "Cat": (lambda *a: torch.cat(a), lambda g: g.split(1), lambda a, b, y: []),
}


def call(name, *inputs):
    forward, rule, saves = RULES[name]
    data = [x.data for x in inputs]
    out = forward(*data)
    follow = any(x.edge for x in inputs)
    node = Node(name, rule, saves(*data, out), inputs) if follow else None
    outs = out if isinstance(out, tuple) else [out]
    return [Value(y, edge=node and (node, i)) for i, y in enumerate(outs)]


# --8<-- [end:rules]
def run_torch(result, grad):
    order, nodes = [], [result.grad_fn]
    for node in nodes:
        node.register_prehook(lambda _, node=node: order.append(node))
        nodes += {n: 0 for n, _ in node.next_functions if n not in [None, *nodes]}
    result.backward(grad)
    return [node.name().removeprefix("torch::autograd::").removesuffix("Backward0") for node in order]


random.seed(0)
torch.manual_seed(0)
nodes_run, g = 0, torch.ones(2, 2)
for _ in range(200):
    theirs = [torch.rand(2, 2).requires_grad_(i > 0) for i in range(4)]
    mine = [Value(x.detach(), x.requires_grad) for x in theirs]
    for name in random.choices(list(RULES)[:-1], k=20):
        picked = random.choices((-4, -3, -2, -1), k=2 if name in ("Add", "Mul", "Mm") else 1)
        a, b = call(name, *(mine[i] for i in picked)), RULES[name][0](*(theirs[i] for i in picked))
        if name == "Split":
            a, b = call("Cat", a[1], a[0]), torch.cat([b[1], b[0]])
        mine, theirs = mine + a, [*theirs, b]
    order = backward(call("Add", mine[-1], mine[1])[0], g)
    assert [node.name for node in order] == run_torch(theirs[-1] + theirs[1], g)
    for a, b in zip(mine[:4], theirs):
        assert (a.grad is None) == (b.grad is None)
        assert a.grad is None or torch.allclose(a.grad, b.grad, rtol=1e-4)
    nodes_run += len(order)
print(f"200 random graphs, {nodes_run} nodes: order and gradients as in torch")
