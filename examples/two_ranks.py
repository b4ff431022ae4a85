"""Two ranks, each with half of the batch, end with the weights of one process with the whole batch."""

import copy
import os
import tempfile
import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def train(model, x, target):
    """The loop of the ten lines; returns the weights as one vector."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(100):
        loss = nn.functional.cross_entropy(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return torch.cat([w.detach().flatten() for w in model.parameters()])


# --8<-- [start:compare]
def compare(rank, world):
    torch.manual_seed(0)
    x, target = torch.randn(8, 3), torch.randint(2, (8,))
    half = x.chunk(world)[rank], target.chunk(world)[rank]
    torch.manual_seed(rank)  # the ranks start from different weights
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    ddp = DistributedDataParallel(model)  # sends the weights of rank 0
    alone, whole = copy.deepcopy(model), copy.deepcopy(model)
    weights = {"alone": train(alone, *half), "DDP": train(ddp, *half)}
    weights["whole"] = train(whole, x, target)
    torch.testing.assert_close(weights["DDP"], weights["whole"])
    for name, mine in weights.items():
        ranks = [torch.empty_like(mine) for _ in range(world)]
        dist.all_gather(ranks, mine)
        same = all(torch.equal(mine, other) for other in ranks)
        assert same == (name != "alone")
        if rank == 0:
            last = " ".join(f"{w[-1]:.3f}" for w in ranks)
            print(f"{name:6} last weight of each rank: {last}", end="  ")
            print("equal:", same)
    # --8<-- [end:compare]


# --8<-- [start:deadlock]
def deadlock(rank):
    """Rank 0 calls a collective that no other rank calls."""
    short = dist.new_group(timeout=timedelta(seconds=2))
    if rank == 0:
        try:
            dist.all_reduce(torch.ones(1), group=short)
        except RuntimeError as error:
            print("deadlock:", str(error).split("] ")[-1])
        else:
            raise AssertionError("a collective of one rank came to an end")
    # The others wait here, in the group of all, until rank 0 has given up.
    dist.barrier()
    # --8<-- [end:deadlock]


# --8<-- [start:launch]
def run(rank, world, method):
    torch.set_num_threads(1)  # the ranks share one machine
    dist.init_process_group("gloo", method, timedelta(seconds=60), world_size=world, rank=rank)
    compare(rank, world)
    deadlock(rank)
    dist.destroy_process_group()


def launch(world, seconds=120):
    """Call `run` in `world` processes that meet in a file; a rank that fails or hangs ends them all."""
    start = "forkserver" if "forkserver" in mp.get_all_start_methods() else "spawn"  # Windows has no fork
    with tempfile.TemporaryDirectory() as folder:
        ranks = mp.start_processes(run, (world, Path(folder, "meet").as_uri()), world, False, start_method=start)
        end = time.monotonic() + seconds
        while not ranks.join(timeout=1):  # raises what a rank raised, with its traceback
            if time.monotonic() > end:
                for process in ranks.processes:
                    process.kill()
                raise TimeoutError(f"{world} ranks did not end")


if __name__ == "__main__":
    if "RANK" in os.environ:  # torchrun has started us, once for each rank
        run(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), "env://")
    else:
        mp.set_forkserver_preload(["torch.distributed", "torch._dynamo"])  # one import for all the ranks
        launch(2)
# --8<-- [end:launch]
