"""What was recorded on a GPU, played through the model of the caching allocator."""

from caching_allocator import Allocator, OutOfMemory
from expandable_segments import Expandable


def replay(model, trace):
    """Makes a trace's calls again, new segments where they were, and yields the address of each entry's block."""
    at = {}
    for entry in trace:
        address = found = entry.get("addr")
        if entry["action"] in ("alloc", "oom"):
            model.top = address or model.top
            try:
                found = at[address] = model.malloc(entry["size"], entry.get("stream", 0))
            except OutOfMemory:
                found = None
        elif entry["action"] == "free_completed" and address in at:
            model.free(at.pop(address))
        yield found


TAKEN = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}


def reserved(trace):
    """Bytes that the device had reserved after each entry of a trace that began with an empty cache."""
    now = 0
    for entry in trace:
        now += TAKEN.get(entry["action"], 0) * entry["size"]
        yield now


def compare(recorded):
    """Plays a trace that began with an empty cache. Returns how many requests got the address that they had on the
    device, or ran out of memory where they did, until one did not, and how many requests there were."""
    model = (Expandable if recorded["expandable"] else Allocator)(allowed=recorded["allowed"])
    trace = recorded["device_traces"][0]
    played = zip(trace, reserved(trace), replay(model, trace), strict=True)
    requests = ((entry, held, found) for entry, held, found in played if entry["action"] in ("alloc", "oom"))
    answers = [(found, model.reserved) == (entry.get("addr"), held) for entry, held, found in requests]
    return [*answers, False].index(False), len(answers)
