"""Memory can be counted without being used: fake tensors tell the peak by kind, hooks what backward keeps."""

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode  # private
from torch.autograd.graph import saved_tensors_hooks
from torch.distributed._tools.mem_tracker import MemTracker  # private
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode


# --8<-- [start:network]
class Network(nn.Module):
    """Four blocks; with `again`, backward computes the inside of each again instead of having it kept."""

    def __init__(self, width, again):
        super().__init__()
        layers = [(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)) for _ in range(4)]
        self.blocks, self.again = nn.ModuleList(nn.Sequential(*three) for three in layers), again

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.again else block(x)
        return x.sum()


# --8<-- [end:network]
# --8<-- [start:kept]
def kept(net, x):
    """The bytes that forward leaves for backward: each storage once, weights not counted."""
    weights = {id(w.untyped_storage()) for w in net.parameters()}
    storages = {}

    def pack(saved):
        storages[id(saved.untyped_storage())] = saved.untyped_storage()
        return saved

    with saved_tensors_hooks(pack, lambda saved: saved):
        net(x)
    return sum(storage.nbytes() for name, storage in storages.items() if name not in weights)


# --8<-- [end:kept]
# --8<-- [start:peak]
def peak(net, x):
    """The bytes of each kind at the worst moment of two training steps."""
    optimizer = torch.optim.SGD(net.parameters(), momentum=0.9)
    tracker = MemTracker()
    tracker.track_external(net, optimizer, x)
    with tracker:
        for _ in range(2):
            net(x).backward()
            optimizer.step()
            optimizer.zero_grad()
            tracker.reset_mod_stats()  # it follows a module through one step only
    (snapshot,) = tracker.get_tracker_snapshot("peak").values()
    return {getattr(kind, "name", kind): size for kind, size in snapshot.items()}


WIDTH, BATCH = 16384, 32768
with FakeTensorMode():
    x = torch.rand(BATCH, WIDTH)
    nets = {name: Network(WIDTH, again) for name, again in (("all kept", False), ("checkpoints", True))}
    saved = {name: kept(net, x) for name, net in nets.items()}
    peaks = {name: peak(net, x) for name, net in nets.items()}
print(f"{'GiB':17}" + "".join(f"{name:>13}" for name in nets))
print(f"{'saved by forward':17}" + "".join(f"{size / 2**30:13.1f}" for size in saved.values()))
for kind in ("PARAM", "GRAD", "ACT", "TEMP", "OPT", "Total"):
    print(f"{'peak, ' + kind:17}" + "".join(f"{peaks[name][kind] / 2**30:13.1f}" for name in nets))
# --8<-- [end:peak]


# --8<-- [start:claims]
def expected(width, batch):
    """For each of four blocks its input; without checkpoints, what goes into GELU and comes out, four times as wide."""
    return {"all kept": 4 * (1 + 4 + 4) * batch * width * 4, "checkpoints": 4 * batch * width * 4}


assert saved == expected(WIDTH, BATCH)
assert peaks["checkpoints"]["Total"] < peaks["all kept"]["Total"]

torch.manual_seed(0)
nets, x = {name: Network(16, net.again) for name, net in nets.items()}, torch.rand(8, 16)
nets["checkpoints"].load_state_dict(nets["all kept"].state_dict())
assert {name: kept(net, x) for name, net in nets.items()} == expected(16, 8), "real tensors: the same bytes"
flops = {}
for name, net in nets.items():
    with FlopCounterMode(display=False) as counter:
        net(x).backward()
    flops[name] = counter.get_total_flops()
print("flops of the small network:", flops)
assert flops["checkpoints"] - flops["all kept"] == 4 * (2 * 8 * 16 * 64), "the first product of each block, again"
for plain, again in zip(nets["all kept"].parameters(), nets["checkpoints"].parameters()):
    assert torch.equal(plain.grad, again.grad)
# --8<-- [end:claims]
