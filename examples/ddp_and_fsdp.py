"""DDP keeps a whole network on each rank, FSDP a piece: both train as one process with the whole batch does."""

import os
import tempfile
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode


# --8<-- [start:train]
def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 7), nn.Tanh(), nn.Linear(7, 2)).double()


def batch(*lengths):
    """Eight rows, cut into parts."""
    x = torch.linspace(-1, 1, 32).reshape(8, 4).double()
    return list(zip(x.split(lengths), x.sin()[:, :2].split(lengths)))


def train(net, optimizer, x, target, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), target).backward()
        optimizer.step()


# --8<-- [end:train]
# --8<-- [start:count]
class Collectives(TorchDispatchMode):
    """Counts what a rank asks the others."""

    def __init__(self):
        super().__init__()
        self.calls = Counter()

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        if op.namespace == "c10d":
            self.calls[op.overloadpacket.__name__.strip("_")] += 1
        return op(*args, **(kwargs or {}))


def kept(net, optimizer):
    """The bytes on this rank: weights, gradients, and what Adam remembers of each weight."""
    weights = list(net.parameters())
    remembered = [x for state in optimizer.state.values() for x in state.values() if x.dim()]
    parts = weights, [w.grad for w in weights], remembered
    return [sum((x.to_local() if isinstance(x, DTensor) else x).nbytes for x in part) for part in parts]


# --8<-- [end:count]
# --8<-- [start:rank]
def compare(rank, world, method):
    torch.set_num_threads(1)  # the ranks share one machine
    dist.init_process_group("gloo", method, timedelta(seconds=30), world_size=world, rank=rank)
    fsdp = network()
    for part in (fsdp[0], fsdp[2], fsdp):
        fully_shard(part, mesh=init_device_mesh("cpu", (world,)))
    nets = {"alone": network(), "DDP": DistributedDataParallel(network()), "FSDP": fsdp}
    for name, net in nets.items():
        part = batch(8)[0] if name == "alone" else batch(*[8 // world] * world)[rank]
        optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
        train(net, optimizer, *part, steps=2)
        with Collectives() as collectives:
            train(net, optimizer, *part, steps=1)
        for w, expected in zip(net.parameters(), nets["alone"].parameters()):
            assert torch.allclose(w.full_tensor() if isinstance(w, DTensor) else w, expected), name
        ranks = [None] * world
        dist.all_gather_object(ranks, kept(net, optimizer))
        if rank == 0:
            print(f"{name:6}", *ranks, *(f"{n} x {call}" for call, n in sorted(collectives.calls.items())))
    # --8<-- [end:rank]

    # --8<-- [start:uneven]
    lengths = [8 - (world - 1), *[1] * (world - 1)]
    grads = []
    for name, part in {"alone": batch(8)[0], "DDP": batch(*lengths)[rank]}.items():
        net = nets[name]
        net.zero_grad()
        nn.functional.mse_loss(net(part[0]), part[1]).backward()
        grads.append(torch.cat([w.grad.flatten() for w in net.parameters()]))
    assert not torch.allclose(*grads), "DDP averages over ranks, whatever the number of rows on each"
    # --8<-- [end:uneven]
    dist.destroy_process_group()


# --8<-- [start:launch]
def launch(world, seconds=60):
    """Run `compare` in `world` processes that meet in a file; a rank that fails or hangs ends them all."""
    start = "forkserver" if "forkserver" in mp.get_all_start_methods() else "spawn"  # Windows has no fork
    with tempfile.TemporaryDirectory() as folder:
        ranks = mp.start_processes(compare, (world, Path(folder, "meet").as_uri()), world, False, start_method=start)
        end = time.monotonic() + seconds
        while not ranks.join(timeout=1):
            if time.monotonic() > end:
                for process in ranks.processes:
                    process.kill()
                raise TimeoutError(f"{world} ranks did not end")


if __name__ == "__main__":
    if "RANK" in os.environ:  # torchrun has started us, once for each rank
        compare(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), "env://")
    else:
        mp.set_forkserver_preload(["torch.distributed.fsdp", "torch._dynamo"])  # one import for all the ranks
        launch(2)
# --8<-- [end:launch]
