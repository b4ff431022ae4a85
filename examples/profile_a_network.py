"""A profile is a tree of calls: count flops and bytes where they arise, and join backward to forward by number."""

import os

os.environ["KINETO_LOG_LEVEL"] = "99"  # else each profile writes a line to stderr

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils.flop_counter import FlopCounterMode

# --8<-- [start:record]
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
x = torch.rand(32, 64)


def step():
    with record_function("forward"):
        loss = net(x).square().mean()
    with record_function("backward"):
        loss.backward()


step()  # once before, so that nothing is recorded that happens only the first time
net.zero_grad()  # before too: a profile that sees memory go, but not come, complains
with profile(activities=[ProfilerActivity.CPU], with_flops=True, profile_memory=True) as prof:
    step()
events = prof.events()
top = {event.name: event for event in events if event.cpu_parent is None}
# --8<-- [end:record]


# --8<-- [start:tree]
def show(event, depth, limit):
    print(f"{'  ' * depth + event.name:26}{event.flops or 0:>9}{event.self_cpu_memory_usage:>9}")
    for child in event.cpu_children if depth < limit else ():
        show(child, depth + 1, limit)


def below(event):
    return [event] + [one for child in event.cpu_children for one in below(child)]


print(f"{'forward':26}{'flops':>9}{'bytes':>9}")
for child in top["forward"].cpu_children:
    show(child, 0, 1)
for event in events:
    inside = [child.time_range for child in event.cpu_children]
    assert all(event.time_range.start <= r.start <= r.end <= event.time_range.end for r in inside)
# --8<-- [end:tree]


# --8<-- [start:join]
def flops(event):
    return sum(one.flops or 0 for one in below(event))


made = {event.sequence_nr: event for event in below(top["forward"]) if event.sequence_nr >= 0}
print("\nbackward runs the numbers down:")
order = []
for event in below(top["backward"]):
    if event.sequence_nr >= 0 and not event.name.startswith("autograd::engine"):
        order.append(event.sequence_nr)
        origin = made[event.sequence_nr]
        print(f"{event.sequence_nr - min(made)} {origin.name:13}{flops(origin):8}  {event.name:18}{flops(event):8}")
assert order == sorted(order, reverse=True)
# --8<-- [end:join]

# --8<-- [start:claims]
small, large = 2 * 32 * 128 * 10, 2 * 32 * 64 * 128  # n x k by k x m: one * and one + for each of n * k * m
assert flops(made[max(made) - 2]) == small and flops(made[max(made) - 5]) == large
with FlopCounterMode(display=False) as counter:
    step()
matmuls = sum(one.flops or 0 for one in events if one.name in ("aten::mm", "aten::addmm"))
assert matmuls == counter.get_total_flops() == (1 + 2) * small + (1 + 1) * large
print("\nbackward doubles a layer's flops, except where the input wants no gradient")
# --8<-- [end:claims]
