"""The ten lines with shards: each rank has its own samples, and together they train the weights of one process."""

import os
import subprocess
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard


# --8<-- [start:train]
def train():
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    x, target = torch.randn(8, 3), torch.randint(2, (8,))
    x, target = x.chunk(world)[rank], target.chunk(world)[rank]
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    for unit in (model[0], model[2], model):
        fully_shard(unit)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(100):
        loss = nn.functional.cross_entropy(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


# --8<-- [end:train]
def alone():
    """The ten lines in one process, without `torch.compile`."""
    torch.manual_seed(0)
    x, target = torch.randn(8, 3), torch.randint(2, (8,))
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(100):
        loss = nn.functional.cross_entropy(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


# --8<-- [start:main]
def main():
    dist.init_process_group("gloo")  # on GPUs: "nccl"
    pairs = zip(train().named_parameters(), alone().parameters())
    for (name, sharded), whole in pairs:
        gathered = sharded.full_tensor()  # every rank calls it
        torch.testing.assert_close(gathered, whole)
        if dist.get_rank() == 0:
            part = tuple(sharded.to_local().shape)
            print(f"{name}: {part} of {tuple(whole.shape)}, as one process")
    dist.destroy_process_group()
    sys.stdout.flush()
    os._exit(0)  # caches of DTensor keep gloo's threads, and one that asks for a tensor now would abort Python's end
    # --8<-- [end:main]


if __name__ == "__main__":
    if "RANK" in os.environ:  # torchrun has started us, once for each rank
        main()
    else:
        run = [sys.executable, "-m", "torch.distributed.run"]
        run += ["--standalone", "--nproc-per-node=2", __file__]
        sys.exit(subprocess.run(run, env=os.environ | {"OMP_NUM_THREADS": "1"}).returncode)
