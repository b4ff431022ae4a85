"""Two ranks that keep a half of the model each train it as one process does, and save what one process can load."""

import tempfile
import time
import warnings
from collections import Counter
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Partial
from torch.utils._python_dispatch import TorchDispatchMode

WORLD, calls = 2, Counter()
warnings.filterwarnings("ignore", "torch.distributed is disabled")  # a process alone loads the checkpoint


# --8<-- [start:ten]
def ten_lines():
    torch.manual_seed(0)
    x, target = torch.randn(8, 3), torch.randint(2, (8,))
    return x, target, nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


def train(model, x, target, steps=100):
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return optimizer, norm


# --8<-- [end:ten]
class Collectives(TorchDispatchMode):  # counts in `calls` what a rank asks the others
    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        if op.namespace == "c10d":
            calls[op.overloadpacket.__name__.strip("_")] += 1
        return op(*args, **(kwargs or {}))


# --8<-- [start:rank]
def sharded(rank, folder):
    x, target, model = ten_lines()
    for unit in (model[0], model[2], model):
        fully_shard(unit)
    rows = slice(rank * 4, rank * 4 + 4)
    optimizer, norm = train(model, x[rows], target[rows], steps=100)

    _, _, alone = ten_lines()
    optimizer_alone, norm_alone = train(alone, x, target, steps=100)
    for w, right in zip(model.parameters(), alone.parameters()):
        torch.testing.assert_close(w.full_tensor(), right)
    torch.testing.assert_close(norm.full_tensor(), norm_alone)
    if rank == 0:
        print("after 100 steps, weights and norm are one process's")
    # --8<-- [end:rank]
    one = nn.Linear(3, 1)  # drawn alike on both ranks; a single row, so rank 1 gets none of it
    right = one(x).detach()
    assert fully_shard(one).weight.to_local().shape == (1 - rank, 3)
    torch.testing.assert_close(one(x), right)
    unit, ones = fully_shard(nn.Linear(1, 2, bias=False)), torch.full((1, 1), 1.0 + rank)  # 1 on rank 0, 2 on rank 1
    for placements, right in ((None, 1.0 + rank), ([Partial("avg")], 1.5)):
        w = unit.weight.full_tensor(grad_placements=placements)
        assert torch.autograd.grad((ones @ w.T).sum(), unit.weight)[0].to_local().item() == right
    dcp.save(dict(zip(("model", "optimizer"), get_state_dict(model, optimizer))), checkpoint_id=folder)
    with Collectives():
        nn.functional.cross_entropy(model(x[rows]), target[rows]).backward()
    local = [w.to_local() for w in model.parameters()]
    state = [t.to_local() for one in optimizer.state.values() for t in one.values() if t.ndim]
    kept = f"rank {rank} keeps {[tuple(w.shape) for w in local]}, {sum(t.nbytes for t in local + state)} bytes"
    said = [None] * WORLD
    dist.all_gather_object(said, kept)
    if rank == 0:
        counts = (f"{n} x {call}" for call, n in sorted(calls.items()))
        print("a rank without a row computes with the layer", *said, *counts, sep="\n")
        whole = [t for one in optimizer_alone.state.values() for t in one.values() if t.ndim]
        print("one process keeps", sum(t.nbytes for t in [*alone.parameters(), *whole]), "bytes")


def meet(rank, method, folder):
    torch.set_num_threads(1)  # the ranks share one machine
    dist.init_process_group("gloo", method, timedelta(seconds=30), world_size=WORLD, rank=rank)
    sharded(rank, folder)
    dist.destroy_process_group()


def launch(folder, seconds=60):
    """Run `meet` in processes that find each other by a file; a rank that fails or hangs ends them all."""
    start = "forkserver" if "forkserver" in mp.get_all_start_methods() else "spawn"  # Windows has no fork
    ranks = mp.start_processes(meet, (Path(folder, "meet").as_uri(), folder), WORLD, False, start_method=start)
    end = time.monotonic() + seconds
    while not ranks.join(timeout=1):
        if time.monotonic() > end:
            for process in ranks.processes:
                process.kill()
            raise TimeoutError("the ranks did not end")


def load(folder):  # what two ranks saved, read by one process that has no ranks
    (x, target, model), (_, _, trained) = ten_lines(), ten_lines()
    train(trained, x, target)
    dcp.load({"model": model.state_dict()}, checkpoint_id=folder)
    torch.testing.assert_close(model.state_dict(), trained.state_dict())
    print("files:", *sorted(path.name for path in Path(folder).iterdir() if path.name != "meet"))


if __name__ == "__main__":
    mp.set_forkserver_preload(["torch.distributed.fsdp", "torch._dynamo"])  # one import for all the ranks
    with tempfile.TemporaryDirectory() as folder:
        launch(folder)
        load(folder)
