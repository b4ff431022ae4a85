"""The figure of DDP's buckets in one backward: which gradients arrive while a bucket is on its way."""

from collections.abc import Callable
from threading import Thread

from torch.futures import Future
from torch.nn.parallel import DistributedDataParallel

from inside_torch.drawing.checks import checked_dict
from inside_torch.drawing.layout import MARGIN, NARROW, ROOM, widest
from inside_torch.drawing.svg import rect, text

from .boxes import Box, Place, laid_out
from .hooks import watched

HIGH, WIDEST = 30, 8  # px of a lane or an event; the most events
KINDS = {"fills": "it-edge", "on its way": "it-element"}  # of a bucket's cell


def bucket_timeline(models: dict[str, DistributedDataParallel], loss: Callable, *, title: str) -> str:
    """For each of the models a panel with the second backward of `loss(model)`: the gradients, the buckets that DDP
    sends, the wait and the return, in the order in which hooks noted them. A bucket's cell is pale from its first
    gradient on, and filled until it is answered. A thread answers all buckets when the last one is sent, so any group
    will do, as `fake`. The gradients are put back; the communication hook stays. Raises TypeError for what is no DDP,
    ValueError where backward does not send all buckets and then wait, and for too many events."""
    checked_dict(models, DistributedDataParallel, "models", 2)
    panels = {name: _recorded(ddp, loss) for name, ddp in models.items()}
    events = [(name, *event) for name, panel in panels.items() for event in panel]
    rows = [[*event, *(", ".join(b for b in on if on[b] == kind) for kind in KINDS)] for *event, on in events]
    desc = " ".join(f"{name}, {lane}: {said}, on its way: {on or 'nothing'}." for name, lane, said, _, on in rows)
    return laid_out(title, desc, ["model", "lane", "event", *KINDS], rows, _draw, panels, kind="it-1 it-large")


def _recorded(ddp: DistributedDataParallel, loss: Callable) -> list:
    """The events of the second backward as (lane, what happens, state of each bucket)."""
    events, sent, names = [], [], {w: name for name, w in ddp.module.named_parameters()}

    def note(lane: str, said: str) -> None:
        events.append((lane, said, [future.done() for future, *_ in sent]))

    def send(state, bucket):
        sent.append((Future(), bucket.buffer(), [names[w] for w in bucket.parameters()]))
        note(f"bucket {bucket.index()}", "send")
        if bucket.is_last():
            Thread(target=answer, args=(sent.copy(),)).start()  # the next backward clears the list
        return sent[-1][0]

    def answer(waiting: list) -> None:
        note("backward", "wait")
        [future.set_result(data) for future, data, _ in waiting]

    ddp.register_comm_hook(None, send)
    with watched(names) as hooks:
        for w, name in names.items():
            hooks.enter_context(w.register_post_accumulate_grad_hook(lambda _, name=name: note("backward", name)))
        for _ in range(2):  # the first backward tells DDP in which order the gradients arrive
            events.clear(), sent.clear()
            loss(ddp).backward()
            note("backward", "return")
    said = [event[1] for event in events]
    if said[-2:] != ["wait", "return"] or not all(events[-1][2]) or len(said) > WIDEST:
        raise ValueError(f"backward must send, wait, and return, in {WIDEST} events, and did {', '.join(said)}")
    for i, (lane, now, done) in enumerate(events):
        fills = ["fills" * any(name in said[: i + 1] for name in parts) for *_, parts in sent[len(done) :]]
        states = ["" if answered else "on its way" for answered in done] + fills
        events[i] = lane, now, {f"bucket {j}": state for j, state in enumerate(states)}
    return events


def _draw(panels: dict, wide: bool) -> tuple:
    """The shapes, width and height: events run to the right, on a phone down."""
    shapes, y, most = [], MARGIN, max(len(events[0][2]) for events in panels.values())
    for x, (said, kind) in zip((MARGIN, MARGIN + 80), KINDS.items()):
        shapes += [rect(x, y, 14, 12, kind, 3), text(x + 20, y + 11, said, "it-value")]
    for name, events in panels.items():
        lanes = ["backward", *events[0][2]]
        left = widest(lanes) + 12 if wide else 0
        step = (ROOM - left) / WIDEST if wide else NARROW / (1 + most)
        shapes.append(text(MARGIN, y + 40, name, "it-name"))
        y += 50 if wide else 74
        for i, lane in enumerate(lanes):
            shapes.append(text(MARGIN + step * i * (not wide), y + HIGH * i + 18 if wide else y - 8, lane, "it-value"))
            for j, (of, said, buckets) in enumerate(events):
                kind = KINDS.get(buckets[lane], "") if i else "it-pill" if of == lane else ""
                across, down = (left + step * j, HIGH * i) if wide else (step * i, HIGH * j)
                box = Box([said] if of == lane else [], kind, bold=said, radius=3)
                shapes += box.drawn(Place(MARGIN + across, y + down, step - 4, HIGH - 4)) if kind else []
        y += HIGH * len(lanes if wide else events)
    return shapes, (ROOM if wide else NARROW) + 2 * MARGIN, y + MARGIN
