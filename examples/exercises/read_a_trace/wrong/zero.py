# says: The number 0 belongs to a node
"""Takes 0 for no number."""


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
    if not node["Sequence number"]:
        return None
    made = [
        j
        for j, event in enumerate(events)
        if event["args"].get("Sequence number") == node["Sequence number"]
        and event["args"].get("Fwd thread id") == 0
        and event["tid"] == node["Fwd thread id"]
    ]
    return max(made, key=lambda j: start_order(events[j]), default=None)


def is_node(event):
    of_engine = event["name"].startswith("autograd::engine")
    return event["args"].get("Fwd thread id", 0) > 0 and not of_engine


def total_of(events, name):
    above, total = parents(events), 0

    def inside(i):
        i = above[i]
        return i is not None and (events[i]["name"] == name or inside(i))

    for i, event in enumerate(events):
        if inside(i):
            continue
        made = operator_of(events, i) if is_node(event) else None
        if event["name"] == name or (made is not None and (events[made]["name"] == name or inside(made))):
            total += event["dur"]
    return total
