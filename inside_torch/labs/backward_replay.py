"""What the lab backward-replay replays: runs of backward, as hooks on the nodes saw them."""

import io
from contextlib import redirect_stdout
from itertools import product

import torch

from .backward_layout import placed
from .backward_programs import END, HOOKS, SCENARIOS, Scenario
from .backward_run import Run, freed, said, saved


def recording() -> dict:
    """All runs, by the name of the scenario and what was switched."""
    runs = {}
    for name, one in SCENARIOS.items():
        for swapped, asked in product(*([False, True] if able else [False] for able in (one.swap, one.inputs))):
            runs[name + " swap" * swapped + " inputs" * asked] = record(one, swapped, asked)
    return {"scenarios": [told(name, one) for name, one in SCENARIOS.items()], "runs": runs, "hooks": HOOKS, "end": END}


def told(name: str, one: Scenario) -> dict:
    """What a reader chooses: a scenario, and what can be switched in it."""
    swap = " and ".join(one.lines.splitlines()[i].partition(" ")[0] for i in one.swap)
    return {"value": name, "said": one.said, "setup": one.setup, "swap": swap, "asked": one.inputs}


def record(one: Scenario, swapped: bool = False, asked: bool = False) -> dict:
    """One run: lines, nodes, edges (from, to, input), where they are drawn, and the steps. What is saved is read from a
    twin, because to read it may run a checkpoint again. Raises ValueError where hooks and rule disagree."""
    lines = one.lines.splitlines()
    if swapped:
        a, b = one.swap
        lines[a], lines[b] = lines[b], lines[a]
    start, inputs = one.call.removesuffix(")"), f'inputs=[leaves["{one.inputs}"]]' * asked
    call = f"{start}{', ' * (asked and start[-1] != '(')}{inputs})"
    held, again = zip(*map(kept, Run(one, lines).nodes))
    run = Run(one, lines)
    targets = {one.inputs} if asked else set(run.leaves)
    needed = [bool(run.leads(i) & targets) for i in range(len(run.nodes))]
    start = run.grads()
    events = run.backward(call)
    steps = checked(run, events, needed, held)
    if left := [run.names[i] for i, node in enumerate(run.nodes) if held[i] and freed(node) != needed[i]]:
        raise ValueError(f"freed where it did not run, or kept where it ran: {left}")
    nodes = zip(run.names, run.numbers, run.lines, run.writes, held, map(int, needed), map(int, again))
    found = {"lines": lines, "roots": one.roots, "call": call, "nodes": list(map(list, nodes)), "steps": steps}
    found["grads"] = start
    found["queue"] = sorted((i for i in run.roots if needed[i]), key=run.number, reverse=True)  # before the first step
    edges = [edge[:3] for edge in run.edges]
    return found | {
        "edges": edges,
        "wide": placed(run, edges, lines, 28, 60),
        "narrow": placed(run, edges, lines, 24, 24),
    }


def kept(node) -> tuple[list, bool]:
    """The names of the tensors that a node saved, and whether forward runs again, and prints, when they are read."""
    with redirect_stdout(io.StringIO()) as printed:
        return saved(node), bool(printed.getvalue())


def checked(run: Run, events: list, needed: list, held: tuple) -> list:
    """The steps: which node ran, what it got and sent, the sums that wait then in the input buffers, the ready queue,
    what was written. Raises ValueError where the engine's rule gives another order than the hooks saw, or the sums of
    what was sent are not what arrived, or a saved tensor stays, or a `.grad` is written elsewhere."""
    ruled, steps = list(run.order(needed)), []
    if [event["node"] for event in events] != [i for i, _ in ruled]:
        raise ValueError("the rule of the engine gives another order than the hooks saw")
    sums = {(i, 0): torch.tensor(1.0) for i in run.roots if needed[i]}
    for event, (i, queue) in zip(events, ruled, strict=True):
        if not all(torch.equal(sums.pop((i, slot)), got) for slot, got in enumerate(event["gets"])):
            raise ValueError(f"{run.names[i]} got another sum than was sent")
        step = {"node": i, "gets": list(map(said, event["gets"])), "sent": [], "queue": queue}
        for edge, (a, b, slot, place) in enumerate(run.edges):
            if a == i and needed[b]:
                grad = event["sends"][place]
                sums[b, slot] = sums[b, slot] + grad if (b, slot) in sums else grad
                step["sent"].append([edge, said(grad), said(sums[b, slot])])
        if event["freed"] != bool(held[i]):
            raise ValueError(f"the saved tensors of {run.names[i]} are still there")
        if [n for n, grad in event["after"].items() if grad != event["before"][n]] != [run.writes[i]] * bool(
            run.writes[i]
        ):
            raise ValueError(f"{run.names[i]} wrote another .grad")
        if run.writes[i]:
            step["grad"] = [event[when][run.writes[i]] for when in ("before", "after")]
        steps.append(step | ({"printed": event["printed"].strip()} if event["printed"] else {}))
    return steps
