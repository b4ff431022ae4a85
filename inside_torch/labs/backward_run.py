"""A program's graph, the order in which the engine is to run it, and what hooks see of a run."""

import io
from bisect import bisect
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout

import torch

from inside_torch.figures.graph import short_name

from .backward_programs import HOOKS, Scenario

LARGEST = 2**64 - 1  # the sequence number of every AccumulateGrad
known: dict = {}
exec(HOOKS.partition("\n\n\n")[0], known)
said = known["said"]  # a tensor as text: the function of the programs themselves


class Run:
    """The graph that the lines of a program leave, its nodes in the order in which backward is to run all of them."""

    def __init__(self, one: Scenario, lines: list):
        self.known: dict = {"torch": torch}
        counter = torch._C._autograd._get_sequence_nr
        self.printed = io.StringIO()
        with redirect_stdout(self.printed):
            exec(one.setup, self.known)
            starts = []
            for line in lines:
                starts.append(counter())
                exec(line, self.known)
        self.known["roots"] = roots = eval(one.roots, self.known)
        self.leaves = self.known["leaves"]
        self.nodes = found = list(dict.fromkeys(root.grad_fn for root in roots))
        for node in found:
            found += [n for n in dict.fromkeys(n for n, _ in node.next_functions if n) if n not in found]
        self._see([root.grad_fn for root in roots])
        first = [i for i, _ in self.order([True] * len(found))]
        self.nodes = [found[i] for i in first]
        self._see([root.grad_fn for root in roots])
        sequence = [node._sequence_nr() for node in self.nodes]
        self.numbers = [None if number == LARGEST else number - min(sequence) for number in sequence]
        makers = [min([sequence[i], *(sequence[a] for a, b, *_ in self.edges if b == i)]) for i in range(len(found))]
        self.lines = [bisect(starts, maker) - 1 for maker in makers]  # an AccumulateGrad comes with its first use
        self.names = [short_name(node) for node in self.nodes]
        names = {id(leaf): name for name, leaf in self.leaves.items()}
        self.writes = [names.get(id(getattr(node, "variable", None)), "") for node in self.nodes]

    def _see(self, roots: list) -> None:
        """Edges (from, to, input of the node there, place among those of the node) between the numbers of nodes."""
        place = {node: i for i, node in enumerate(self.nodes)}
        ways = [(a, n, *way) for a, node in enumerate(self.nodes) for n, way in enumerate(node.next_functions)]
        self.edges = [(a, place[to], slot, n) for a, n, to, slot in ways if to]
        self.roots = [place[root] for root in roots]

    def number(self, i: int) -> int:
        """The sequence number of a node."""
        return self.nodes[i]._sequence_nr()

    def leads(self, i: int) -> set:
        """The names of the leaves that a path leads to from a node."""
        return {self.writes[i]}.union(*(self.leads(b) for a, b, *_ in self.edges if a == i))

    def order(self, needed: list) -> Iterator[tuple]:
        """By the rule of the engine: each node that runs, and the ready queue after that. The rule: a node is ready
        when a gradient has come along each edge that leads to it; the largest sequence number is first. Raises
        ValueError where two that are ready have the same number, for which there is no rule."""
        waits = Counter(b for _, b, *_ in self.edges)
        ready = [i for i in self.roots if needed[i]]
        while ready:
            ready.sort(key=self.number, reverse=True)
            if len(set(map(self.number, ready))) < len(ready):
                raise ValueError("two nodes that are ready have the same sequence number")
            ran = ready.pop(0)
            for a, b, *_ in self.edges:
                if a == ran:
                    waits[b] -= 1
                    ready += [b] * (needed[b] and not waits[b])
            yield ran, sorted(ready, key=self.number, reverse=True)

    def backward(self, call: str) -> list:
        """What hooks see when the call runs: for each node what it gets and sends, what forward prints again meanwhile,
        whether what it saved is freed afterwards, and the `.grad` of all leaves, before and after."""
        events: list = []
        kept = lambda grads: [grad if grad is None else grad.clone() for grad in grads]  # noqa: E731

        def ends() -> None:
            if events:
                seen = {"freed": freed(self.nodes[events[-1]["node"]]), "after": self.grads()}
                events[-1] |= seen | {"printed": self.printed.getvalue()}
            self.printed.seek(self.printed.truncate(0))

        def starts(i: int, got: tuple) -> None:
            ends()
            events.append({"node": i, "gets": kept(got), "before": self.grads()})

        for i, node in enumerate(self.nodes):
            node.register_prehook(lambda got, i=i: starts(i, got))
            node.register_hook(lambda sent, _: events[-1].update(sends=kept(sent)))
        with redirect_stdout(self.printed):
            exec(call, self.known)
        ends()
        return events

    def grads(self) -> dict:
        """The `.grad` of each leaf, as text."""
        return {name: "None" if leaf.grad is None else said(leaf.grad) for name, leaf in self.leaves.items()}


def saved(node) -> list:
    """The names of the tensors that a node saved. Raises RuntimeError when they are freed."""
    own = isinstance(node, torch.autograd.function.BackwardCFunction)
    names = ["saved_tensors"] if own else [name for name in dir(node) if name.startswith("_saved_")]
    found = [(name.removeprefix("_saved_"), getattr(node, name)) for name in names]
    several = [(name, one if isinstance(one, tuple | list) else [one]) for name, one in found]
    return ["ctx." * own + name for name, one in several if any(isinstance(each, torch.Tensor) for each in one)]


def freed(node) -> bool:
    """Whether what a node saved is gone."""
    try:
        saved(node)
    except RuntimeError as error:
        if "second time" not in str(error):
            raise
        return True
    return False
