"""Read a trace, in plain Python.

A trace is a list of events, in any order. An event is a dictionary:
    name  what was called
    ts    when the call began, an integer
    dur   how long it took, an integer of at least 1
    tid   the thread in which it ran, an integer of at least 1
    args  {}, or a "Sequence number" and a "Fwd thread id"

Two events of a thread lie one inside the other, or they do not overlap.
One may begin when the other ends. Two may begin together, or end together,
but never both.
"""


def self_times(events):
    """The self time of each event, a list in the order of `events`."""
    raise NotImplementedError("write self_times")


def operator_of(events, i):
    """The index of the operator that made the node events[i], or None.

    An operator has the "Fwd thread id" 0. A node has a larger one, the
    `tid` of its operator, and no name that begins with "autograd::engine".
    """
    raise NotImplementedError("write operator_of")


def total_of(events, name):
    """The time of what is called `name`, its backward pass included.

    Leave out each event that lies inside one called `name`: its time is in
    that one. Of the others, add the events called `name`, and the nodes
    whose operator is called `name` or lies inside an event called `name`.
    No event called `name` lies inside a node, and no node inside another.
    """
    raise NotImplementedError("write total_of")


def event(name, ts, dur, *numbers):
    args = dict(zip(("Sequence number", "Fwd thread id"), numbers))
    return {"name": name, "ts": ts, "dur": dur, "tid": 1, "args": args}


if __name__ == "__main__":
    events = [
        event("layer", 0, 10),
        event("linear", 1, 8, 0, 0),
        event("t", 2, 2, 0, 0),
        event("addmm", 4, 4, 1, 0),
        event("AddmmBackward0", 20, 5, 1, 1),
        event("TBackward0", 26, 3, 0, 1),
    ]
    try:
        print("self times:", self_times(events))
        print("operators: ", operator_of(events, 4), operator_of(events, 5))
        print("layer:     ", total_of(events, "layer"))
        print("addmm:     ", total_of(events, "addmm"))
    except NotImplementedError as missing:
        print("not written yet:", missing)
