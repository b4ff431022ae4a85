# says: You may have left out the node of an operator that is itself called
"""Looks only at what is around an operator."""


def end(event):
    return event["ts"] + event["dur"]


def start_order(event):
    return event["ts"], -event["dur"]


def parents(events):
    """For each event the index of the innermost event around it, or None."""
    found, stacks = [None] * len(events), {}
    order = range(len(events))
    for i in sorted(order, key=lambda i: start_order(events[i])):
        stack = stacks.setdefault(events[i]["tid"], [])
        while stack and end(events[stack[-1]]) <= events[i]["ts"]:
            stack.pop()
        found[i] = stack[-1] if stack else None
        stack.append(i)
    return found


def self_times(events):
    times = [event["dur"] for event in events]
    for event, parent in zip(events, parents(events)):
        if parent is not None:
            times[parent] -= event["dur"]
    return times


def operator_of(events, i):
    node = events[i]["args"]
    same_number = [
        j
        for j, event in enumerate(events)
        if event["args"].get("Sequence number") == node["Sequence number"]
        and event["args"].get("Fwd thread id") == 0
        and event["tid"] == node["Fwd thread id"]
    ]
    # An operator that only calls others begins before the one that made the node.
    return max(same_number, key=lambda j: start_order(events[j]), default=None)


def is_node(event):
    of_engine = event["name"].startswith("autograd::engine")
    return event["args"].get("Fwd thread id", 0) > 0 and not of_engine


def total_of(events, name):
    above, total = parents(events), 0

    def belongs(i):
        """Whether event i, or one around it, is called `name`."""
        while i is not None and events[i]["name"] != name:
            i = above[i]
        return i is not None

    for i, event in enumerate(events):
        if belongs(above[i]):
            continue  # its time is in that of the event around it
        made = operator_of(events, i) if is_node(event) else None
        backward = made is not None and belongs(above[made])
        if event["name"] == name or backward:
            total += event["dur"]
    return total
