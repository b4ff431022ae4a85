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
KINDS = {"fills": "it-edge", "sends": "it-element", "on its way": "it-element"}  # of a bucket's cell


def bucket_timeline(models: dict[str, DistributedDataParallel], loss: Callable, *, title: str) -> str:
    """For each of the models a panel with the second backward of `loss(model)`: a column for each gradient, for the
    wait and the return, in the order in which hooks noted them. A bucket's cell is pale from its first gradient on,
    says `send` at the gradient whose hook sent it, and is filled until it is answered. A thread answers all buckets
    when the last one is sent, so any group will do, as `fake`. The gradients are put back; the communication hook
    stays. Raises TypeError for what is no DDP, ValueError where backward does not send all buckets and then wait, and
    for too many events."""
    checked_dict(models, DistributedDataParallel, "models", 2)
    panels = {name: _recorded(ddp, loss) for name, ddp in models.items()}
    events = [(name, *event) for name, panel in panels.items() for event in panel]
    rows = [[*event, *(", ".join(b for b in on if on[b] == kind) for kind in KINDS)] for *event, on in events]
    told = [
        f"{name}, {said}, sends: {now or 'nothing'}, on its way: {on or 'nothing'}." for name, said, _, now, on in rows
    ]
    return laid_out(title, " ".join(told), ["model", "backward", *KINDS], rows, _draw, panels, kind="it-1 it-large")


def _recorded(ddp: DistributedDataParallel, loss: Callable) -> list:
    """The events of the second backward as (what happens, state of each bucket)."""
    events, sent, names = [], [], {w: name for name, w in ddp.module.named_parameters()}

    def note(said: str) -> None:
        events.append((said, [future.done() for future, *_ in sent]))

    def send(state, bucket):
        sent.append((Future(), bucket.buffer(), [names[w] for w in bucket.parameters()], len(events) - 1))
        if bucket.is_last():
            Thread(target=answer, args=(sent.copy(),)).start()  # the next backward clears the list
        return sent[-1][0]

    def answer(waiting: list) -> None:
        note("wait")
        [future.set_result(data) for future, data, *_ in waiting]

    ddp.register_comm_hook(None, send)
    with watched(names) as hooks:
        for w, name in names.items():
            hooks.enter_context(w.register_post_accumulate_grad_hook(lambda _, name=name: note(name)))
        for _ in range(2):  # the first backward tells DDP in which order the gradients arrive
            events.clear(), sent.clear()
            loss(ddp).backward()
            note("return")
    said = [event[0] for event in events]
    if said[-2:] != ["wait", "return"] or not all(events[-1][1]) or len(said) > WIDEST:
        raise ValueError(f"backward must send, wait, and return, in {WIDEST} events, and did {', '.join(said)}")
    for at, (now, done) in enumerate(events):
        states = ["" if answered else "on its way" for answered in done]
        for *_, parts, gone in sent[len(done) :]:
            states.append("sends" if gone == at else "fills" * any(name in said[: at + 1] for name in parts))
        events[at] = now, {f"bucket {i}": state for i, state in enumerate(states)}
    return events


def _draw(panels: dict, wide: bool) -> tuple:
    """The shapes, width and height: events run to the right, on a phone down."""
    shapes, y, most = [], MARGIN, max(len(events[0][1]) for events in panels.values())
    for x, said in zip((MARGIN, MARGIN + 80), ("fills", "on its way")):
        shapes += [rect(x, y, 14, 12, KINDS[said], 3), text(x + 20, y + 11, said, "it-value")]
    for name, events in panels.items():
        lanes = ["backward", *events[0][1]]
        left = widest(lanes) + 12 if wide else 0
        step = (ROOM - left) / max(map(len, panels.values())) if wide else NARROW / (1 + most)
        shapes.append(text(MARGIN, y + 40, name, "it-name"))
        y += 50 if wide else 74
        for i, lane in enumerate(lanes):
            shapes.append(text(MARGIN + step * i * (not wide), y + HIGH * i + 18 if wide else y - 8, lane, "it-value"))
            for j, (said, buckets) in enumerate(events):
                state = buckets[lane] if i else said
                word = state if not i else "send" * (state == "sends")
                across, down = (left + step * j, HIGH * i) if wide else (step * i, HIGH * j)
                box = Box([word] if word else [], KINDS.get(state, "") if i else "it-pill", bold=word, radius=3)
                shapes += box.drawn(Place(MARGIN + across, y + down, step - 4, HIGH - 4)) if state else []
        y += HIGH * len(lanes if wide else events)
    return shapes, (ROOM if wide else NARROW) + 2 * MARGIN, y + MARGIN
