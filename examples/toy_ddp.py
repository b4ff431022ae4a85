"""DistributedDataParallel in one class: hooks fill buckets, and each full bucket is averaged while backward goes on."""

import copy
import gc
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class ToyDDP(nn.Module):
    def __init__(self, module, group, cap):
        super().__init__()
        self.module, self.group, self.cap = module, group, cap
        self.ready, self.sent, self.arrived, self.hooks = [], [], 0, []
        for tensor in (*module.parameters(), *module.buffers()):
            dist.broadcast(tensor.detach(), group=group, group_src=0)
        for w in module.parameters():
            hook = w.register_post_accumulate_grad_hook(self.hook)
            self.hooks.append(hook)

    def forward(self, x):
        return self.module(x)

    # --8<-- [start:hook]
    def hook(self, w):
        self.ready.append(w.grad)
        self.arrived += 1
        last = self.arrived == len([*self.module.parameters()])
        if last or sum(grad.nbytes for grad in self.ready) >= self.cap:
            bucket = torch.cat([grad.flatten() for grad in self.ready])
            bucket /= self.group.size()
            work = dist.all_reduce(bucket, group=self.group, async_op=True)
            self.sent.append((work, bucket, self.ready))
            self.ready = []
        if last:
            self.finish()

    def finish(self):
        for work, bucket, grads in self.sent:
            work.wait()
            parts = bucket.split([grad.numel() for grad in grads])
            for grad, part in zip(grads, parts):
                grad.copy_(part.view_as(grad))
        self.sent, self.arrived = [], 0
        # --8<-- [end:hook]


def connected(world):
    """A process group for each of `world` ranks, which are threads of this process."""
    store, gloo, kind = dist.HashStore(), dist.ProcessGroupGloo, dist.ProcessGroup.BackendType.GLOO
    options = gloo._Options()
    options._devices = [gloo.create_device(hostname="127.0.0.1")]
    groups = [dist.ProcessGroup(store, rank, world) for rank in range(world)]
    with ThreadPoolExecutor(world) as pool:
        backends = list(pool.map(lambda rank: gloo(store, rank, world, options), range(world)))
    for group, backend in zip(groups, backends):
        group._register_backend(torch.device("cpu"), kind, backend)
    return groups


torch.manual_seed(0)
x, target = torch.randn(8, 3), torch.randint(2, (8,))
models = [nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)) for rank in range(2)]


# --8<-- [start:compare]
def weights(rank, group):
    nets = [
        ToyDDP(copy.deepcopy(models[rank]), group, cap=40),
        DistributedDataParallel(copy.deepcopy(models[rank]), process_group=group),
    ]
    for net in nets:
        optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
        for _ in range(100):
            loss = nn.functional.cross_entropy(net(x.chunk(2)[rank]), target.chunk(2)[rank])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    for hook in nets[0].hooks:
        hook.remove()  # it holds the net, and the net its group
    return [torch.cat([w.detach().flatten() for w in net.parameters()]) for net in nets]


with ThreadPoolExecutor(2) as pool:
    ranks = list(pool.map(weights, range(2), connected(2)))
gc.collect()  # with the last net, its group and the group's threads are gone before Python ends
(toy, torch_), (toy_1, torch_1) = ranks
assert torch.equal(toy, toy_1) and torch.equal(torch_, torch_1)
torch.testing.assert_close(toy, torch_)
print(f"{len(toy)} numbers, equal on both ranks, and as under DistributedDataParallel")
# --8<-- [end:compare]
