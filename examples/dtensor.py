"""A DTensor is a piece and a placement: the same lines on two and on four ranks give the same numbers."""

import logging
import os
import tempfile
import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed._local_tensor import LocalTensorMode  # private
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor

logging.getLogger("torch.distributed.tensor._collective_utils").setLevel("ERROR")  # gloo has no all-to-all


# --8<-- [start:program]
def program(world):
    """Each DTensor by name, with the plain tensor that it stands for."""
    mesh = init_device_mesh("cpu", (world,))
    grid = init_device_mesh("cpu", (world // 2, 2), mesh_dim_names=("data", "model"))
    x, w = torch.arange(20.0).reshape(5, 4), torch.arange(12.0).reshape(4, 3) - 6
    rows, columns = distribute_tensor(x, mesh, [Shard(0)]), distribute_tensor(x, mesh, [Shard(1)])
    down, across = distribute_tensor(w, mesh, [Shard(0)]), distribute_tensor(w, mesh, [Shard(1)])
    everywhere = distribute_tensor(w, mesh, [Replicate()])
    partial = columns @ down
    assert partial.placements == (Partial(),)
    split = distribute_tensor(x, grid, [Shard(0), Replicate()]) @ distribute_tensor(w, grid, [Replicate(), Shard(1)])
    yield "rows", rows, x
    yield "rows * 2 + 1", rows * 2 + 1, x * 2 + 1
    yield "rows -> columns", rows.redistribute(mesh, [Shard(1)]), x
    yield "rows.sum(0)", rows.sum(0), x.sum(0)
    yield "rows @ everywhere", rows @ everywhere, x @ w
    yield "rows @ across", rows @ across, x @ w
    yield "columns @ down", partial, x @ w
    yield "  -> everywhere", partial.redistribute(mesh, [Replicate()]), x @ w
    yield "  -> rows", partial.redistribute(mesh, [Shard(0)]), x @ w
    yield "  .relu()", partial.relu(), (x @ w).relu()
    yield "on a grid", split, x @ w


# --8<-- [end:program]
# --8<-- [start:whole]
def whole(pieces, placements):
    """What a placement says: how the ranks' pieces make the tensor; on a grid of n x 2, first two by two."""
    *outer, last = placements
    if outer:
        return whole([whole(pieces[r : r + 2], [last]) for r in range(0, len(pieces), 2)], outer)
    if isinstance(last, Shard):
        return torch.cat(pieces, last.dim)
    return pieces[0] if last == Replicate() else sum(pieces[1:], pieces[0])


# --8<-- [end:whole]
# --8<-- [start:rank]
def compare(rank, world, method):
    """One rank: the program over gloo and the program for all ranks in this one process give it the same pieces."""
    torch.set_num_threads(1)  # the ranks share one machine
    dist.init_process_group("gloo", method, timedelta(seconds=30), world_size=world, rank=rank)
    real = {}
    for name, d, plain in program(world):
        real[name] = d.placements, d.to_local().clone()
        assert torch.equal(d.full_tensor(), plain), name
    dist.barrier()
    dist.destroy_process_group()

    dist.init_process_group("fake", world_size=world, rank=0)  # LocalTensorMode wants to be rank 0
    lines = []
    with LocalTensorMode(world):
        for name, d, plain in program(world):
            pieces = [d.to_local()._local_tensors[r] for r in range(world)]
            assert d.placements == real[name][0] and torch.equal(pieces[rank], real[name][1]), name
            assert torch.equal(whole(pieces, d.placements), plain), name
            lines.append((name, d.placements, [tuple(piece.shape) for piece in pieces]))
    dist.destroy_process_group()
    if rank == 0:
        print(f"{world} ranks")
        for name, placements, shapes in lines:
            print(f"{name:17} {' '.join(map(str, placements)):9}", *shapes)


# --8<-- [end:rank]
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
        mp.set_forkserver_preload(["torch.distributed.tensor"])  # one import for all the ranks
        launch(2)
        launch(4)
# --8<-- [end:launch]
