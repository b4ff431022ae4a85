"""Compare what is read from traces with a slow reading of them, and with the arrows of the profiler's exporter."""

import json
import os
import random
import tempfile
from pathlib import Path

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # else each profile writes a line to stderr

import torch
from check import compare
from torch.profiler import profile, record_function

PLAIN = True
SEQUENCE, FORWARD = "Sequence number", "Fwd thread id"
NAMES = ("block", "step", "layer")


class Recorded(list):
    """The events of a profile; `arrows` has the operator of each node, as the exporter connected them."""


def event(name, ts, dur, tid=1, number=None, forward=0):
    args = {} if number is None else {SEQUENCE: number, FORWARD: forward}
    return {"name": name, "ts": ts, "dur": dur, "tid": tid, "args": args}


def end(one):
    return one["ts"] + one["dur"]


def is_node(one):
    return one["args"].get(FORWARD, 0) > 0 and not one["name"].startswith("autograd::engine")


def around(events, i, threads=True, touching=False):
    """The indices of the events around event `i`, the innermost first."""
    one = events[i]
    found = []
    for j, other in enumerate(events):
        same = not threads or other["tid"] == one["tid"]
        holds = other["ts"] <= one["ts"] and end(one) <= end(other)
        if touching:
            holds = (other["ts"], -other["dur"]) < (one["ts"], -one["dur"]) and one["ts"] <= end(other)
        if i != j and same and holds:
            found.append(j)
    return sorted(found, key=lambda j: (-events[j]["ts"], events[j]["dur"]))


def self_times(events, subtract="children", **how):
    times = [one["dur"] for one in events]
    for i, one in enumerate(events):
        above = around(events, i, **how)
        for j in {"children": above[:1], "all": above, "none": ()}[subtract]:
            times[j] -= one["dur"]
    return tuple(times)


def operator_of(events, i, pick="last", threads=True, zero=True, nodes=False):
    if hasattr(events, "arrows") and (pick, threads, zero, nodes) == ("last", True, True, False):
        return events.arrows[i]
    number, thread = events[i]["args"][SEQUENCE], events[i]["args"][FORWARD]
    found = [
        j
        for j, one in enumerate(events)
        if one["args"].get(SEQUENCE) == number
        and (one["args"][FORWARD] == 0 or nodes)
        and (one["tid"] == thread or not threads)
        and i != j
    ]
    if not found or (not number and not zero):
        return None
    if pick == "listed":
        return found[-1]
    return (max if pick == "last" else min)(found, key=lambda j: (events[j]["ts"], -events[j]["dur"]))


def total_of(events, name, nested=False, backward=True, again=False, itself=True):
    inside = [any(events[j]["name"] == name for j in around(events, i)) for i in range(len(events))]
    total = 0
    for i, one in enumerate(events):
        if one["name"] == name:
            total += one["dur"] * (nested or not inside[i])
        elif is_node(one) and backward and (again or not inside[i]):
            made = operator_of(events, i)
            total += one["dur"] * (made is not None and (inside[made] or (itself and events[made]["name"] == name)))
    return total


def forward(draw, events, tid, ts, number, depth=0):
    """Add a call of an operator that makes nodes from `number` on; the time and the number after it."""
    start = ts
    if depth < 3 and draw.random() < 0.5:  # others are called inside, and some of them touch
        first, at = number, len(events)
        ts += draw.choice((0, 0, 1))
        for _ in range(draw.randint(1, 2)):
            ts, number = forward(draw, events, tid, ts, number, depth + 1)
            ts += draw.choice((0, 0, 2))
        ts += draw.choice((0, 1)) if len(events) > at + 1 else 1
        if ts - start == events[-1]["dur"]:
            ts += 1
        if draw.random() < 0.4:
            events.append(event(draw.choice(NAMES), start, ts - start, tid))
        else:
            events.append(event("composite", start, ts - start, tid, first))
    else:
        ts += draw.randint(1, 4)
        events.append(event("operator", start, ts - start, tid, number))
        number += 1
    return ts, number


def backward(draw, events, tid, made_by, ts, count):
    """Add a backward pass in thread `tid` of what the thread `made_by` recorded."""
    for number in reversed(range(count)):
        dur = draw.randint(1, 5)
        events.append(event("NodeBackward", ts + 1, dur, tid, number, made_by))
        if dur > 2:
            events.append(event("operator inside", ts + 1, dur - draw.choice((1, 2)), tid))
        events.append(event("autograd::engine::evaluate_function: NodeBackward", ts, dur + 2, tid, number, made_by))
        ts += dur + 2 + draw.choice((0, 3))
    return ts


def made(draw):
    """A trace of two threads that run forward and backward, each by itself or in a third one, shuffled."""
    events = []
    for tid in (1, 2):
        ts, number, own = draw.randint(0, 3), 0, draw.random() < 0.5
        start, first = ts, len(events)
        for _ in range(draw.randint(1, 3)):
            ts, number = forward(draw, events, tid, ts, number)
        if own:
            ts = backward(draw, events, tid, tid, ts, number)
        elif tid == 1:
            backward(draw, events, 3, tid, ts + 1, number)
        if draw.random() < 0.4 and len(events) > first:
            events.append(event(draw.choice(NAMES), start, ts - start + 1, tid))
    draw.shuffle(events)
    return events


def distinct(events):
    return len({(one["ts"], one["dur"], one["tid"]) for one in events}) == len(events)


def recorded():
    """A real trace of a step, in nanoseconds and with the thread's number as autograd has it."""
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    with profile() as prof:
        with record_function("layer"):
            h = model[0](torch.ones(8, 3))
        with record_function("block"):
            loss = model[1:](h).log_softmax(1).sum()
        loss.backward()
    path = Path(tempfile.mkdtemp(), "trace.json")
    prof.export_chrome_trace(str(path))
    said = json.loads(path.read_text())["traceEvents"]
    path.unlink()
    path.parent.rmdir()
    kept = [one for one in said if one.get("cat") in ("cpu_op", "user_annotation")]
    events = Recorded()
    for one in kept:
        number = one["args"].get(SEQUENCE)
        times = round(one["ts"] * 1000), round(one["dur"] * 1000)
        events.append(event(one["name"], *times, 1, number, one["args"].get(FORWARD, 0)))
    first = min(one["ts"] for one in events)
    at, nodes = {}, {}
    for i, one in enumerate(events):
        at.setdefault((one["ts"], is_node(one)), []).append(i)
        one["ts"] -= first
    for one in said:
        if one.get("cat") == "fwdbwd":
            nodes.setdefault(one["id"], {})[one["ph"]] = round(one["ts"] * 1000)
    events.arrows = {at[pair["f"], True][-1]: at[pair["s"], False][-1] for pair in nodes.values()}
    return events


def real():
    while True:
        events = recorded()
        whole = distinct(events) and all(one["dur"] > 0 for one in events)
        if whole and len(events.arrows) == sum(map(is_node, events)):
            return events


SELF = {
    "You may have returned the total. The self time of an event leaves out the events inside it.": lambda events: (
        self_times(events, "none")
    ),
    "You may have subtracted everything that lies inside. An event two levels below is a part of the one between, so "
    "it was subtracted twice. Subtract the children only.": lambda events: self_times(events, "all"),
    "You may have ignored `tid`. An event of another thread can run at the same time, but it lies inside "
    "nothing here.": lambda events: self_times(events, threads=False),
    "You may have counted an event that touches as one that lies inside. Where one begins at the very time at which "
    "another ends, the other is over.": lambda events: self_times(events, touching=True),
}
OPERATOR = {
    "You may have taken the first event with the number. That is the outermost one. It only calls others, "
    "and has the number that the next node will get. The last one to begin made the node.": lambda events, i: (
        operator_of(events, i, "first")
    ),
    "You may have taken the last event of the list. The list is not sorted: take the event that began "
    "last.": lambda events, i: operator_of(events, i, "listed"),
    "You may have ignored the thread. Each thread numbers its nodes for itself, so the number alone leads to an "
    "operator of another thread. The node says the thread in its Fwd thread id.": lambda events, i: operator_of(
        events, i, threads=False
    ),
    "You may have tested whether the number is true. The number 0 belongs to a node like any "
    "other number.": lambda events, i: operator_of(events, i, zero=False),
    "You may have searched all events. The engine's event of the node has the same number. Operators of forward have "
    "a Fwd thread id of 0.": lambda events, i: operator_of(events, i, nodes=True),
}
TOTAL = {
    "You may have added nested events twice. Where an event lies inside another one of the same name, its time is "
    "already in that of the outer one.": lambda events, name: total_of(events, name, nested=True),
    "You may have counted forward alone. The nodes of backward lie outside the event, but their operators lie "
    "inside it.": lambda events, name: total_of(events, name, backward=False),
    "You may have added nodes that were counted already. If backward runs inside an event of that name, its time "
    "is in the event.": lambda events, name: total_of(events, name, again=True),
    "You may have left out the node of an operator that is itself called what was asked for. It belongs to the total, "
    "like the nodes of operators inside.": lambda events, name: total_of(events, name, itself=False),
}


def check(work):
    draw = random.Random(0)
    traces = [events for events in (made(draw) for _ in range(150)) if distinct(events)]
    example = [  # of the starter
        event("layer", 0, 10),
        event("linear", 1, 8, 1, 0),
        event("t", 2, 2, 1, 0),
        event("addmm", 4, 4, 1, 1),
        event("AddmmBackward0", 20, 5, 1, 1, 1),
        event("TBackward0", 26, 3, 1, 0, 1),
    ]
    f, g = event("f", 0, 9), event("g", 2, 3)
    small = [
        [f, g, event("h", 6, 1)],
        [f, event("g", 1, 6), event("h", 2, 3)],
        [g, f, event("h", 3, 1, 2)],
        [f, event("g", 9, 2)],
    ]
    trace = real()
    compare(
        "self_times",
        [(events,) for events in (example, *small, *traces, trace)],
        work.self_times,
        self_times,
        SELF,
        "The self time of an event is its duration minus the durations of its children. A child is an event of the "
        "same thread whose innermost surrounding event this is.",
    )
    outer, inner = event("composite", 0, 9, 1, 0), event("operator", 2, 3, 1, 0)
    node, engine = event("NodeBackward", 20, 3, 1, 0, 1), event("autograd::engine", 19, 5, 1, 0, 1)
    pairs = [
        [node, outer, inner],
        [node],
        [node, inner, outer],
        [node, event("operator", 4, 3, 2, 0), inner],
        [node, outer, inner, engine],
    ]
    asked = [(events, i) for events in (*traces, trace) for i, one in enumerate(events) if is_node(one)]
    compare(
        "operator_of",
        [(example, 4), (example, 5), *((events, 0) for events in pairs), *asked],
        work.operator_of,
        operator_of,
        OPERATOR,
        "The operator has a Fwd thread id of 0, ran in the thread that the node names in its Fwd thread id, has the "
        "node's number, and is the last event to begin that does. There may be none.",
    )
    named = [event("block", 0, 10), node, outer, inner]
    nested = [*named[:1], event("block", 0, 9), inner]
    whole = [event("block", 0, 30), node, inner]
    compare(
        "total_of",
        [
            *((example, name) for name in ("layer", "linear", "addmm")),
            *((events, "block") for events in (nested, whole, named)),
            *((events, name) for events in (*traces, trace) for name in NAMES),
            *((events, "operator") for events in traces),
        ],
        work.total_of,
        total_of,
        TOTAL,
        "Leave out each event inside one of that name. Of the others, add those of that name, and the nodes whose "
        "operator has that name or lies inside an event of that name.",
    )
