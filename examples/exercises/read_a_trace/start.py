"""Read a trace, in plain Python.

A trace is a list of events, in any order. An event is a dictionary:
    name  what was called
    ts    when the call began, an integer
    dur   how long it took, an integer of at least 1
    tid   the thread in which it ran
    args  a dictionary; it may have "Sequence number" and "Fwd thread id"

Two events of a thread lie one inside the other, or they do not overlap.
They may touch, begin together or end together, but not both.

A node is an event whose "Fwd thread id" is above 0 and whose name does not
begin with "autograd::engine". Its "Fwd thread id" is the `tid` of the
thread that made it. Each thread numbers its nodes for itself, from 0.
"""


def self_times(events):
    """The self time of each event, in the order of the list."""
    raise NotImplementedError("write self_times")


def operator_of(events, i):
    """The index of the operator that made the node events[i], or None.

    Operators are events whose "Fwd thread id" is 0.
    """
    raise NotImplementedError("write operator_of")


def total_of(events, name):
    """The time of all events called `name`, and of backward's part.

    What lies in two such events counts once. To this comes the time of each
    node that runs elsewhere, if an event called `name` is around the
    operator that made the node.
    """
    raise NotImplementedError("write total_of")


if __name__ == "__main__":
    outer = {"name": "f", "ts": 0, "dur": 9, "tid": 1, "args": {}}
    inner = {"name": "g", "ts": 2, "dur": 3, "tid": 1, "args": {}}
    try:
        print("self times:", self_times([outer, inner]))
        print("total of f:", total_of([outer, inner], "f"))
    except NotImplementedError as missing:
        print("not written yet:", missing)
