"""What was recorded on a GPU, played through the model of the caching allocator."""

from caching_allocator import LARGE, LARGE_SEGMENT, ROUND_LARGE, Allocator, OutOfMemory, up
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


def sizes(recorded):
    """For each request and each free of a trace without expandable segments, in bytes: what the device had reserved
    before it and the new segment that it needed, or what was reserved where it needed none; what the device had
    reserved after it; what the model had reserved and allocated."""
    model, trace, before, segment = Allocator(allowed=recorded["allowed"]), recorded["device_traces"][0], 0, 0
    for entry, held, _ in zip(trace, reserved(trace), replay(model, trace), strict=True):
        if entry["action"] == "segment_alloc":
            segment = entry["size"]
        elif entry["action"] in ("alloc", "free_completed", "oom"):
            if entry["action"] == "oom":  # of requests above 1 MiB
                segment = up(entry["size"], ROUND_LARGE) if entry["size"] >= LARGE else LARGE_SEGMENT
            yield before + segment if segment else held, held, model.reserved, model.allocated
            before, segment = held, 0
