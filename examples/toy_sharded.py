"""Four ranks that keep a quarter of every parameter each make the step that one process makes."""

import torch
from torch import nn


# --8<-- [start:toy]
class Sharded:
    """A parameter, in shards; whole only while its layer computes."""

    def __init__(self, layer, w, world):
        self.w, self.bytes, self.world = w, w.nbytes, world
        self.shards = [shard.clone() for shard in w.detach().chunk(world)]
        self.free()
        layer.register_forward_pre_hook(lambda *_: self.gather())
        layer.register_forward_hook(self.after_forward)
        w.register_post_accumulate_grad_hook(self.reduce_scatter)

    def free(self):
        self.w.untyped_storage().resize_(0)

    def gather(self):
        self.w.untyped_storage().resize_(self.bytes)
        self.w.data.copy_(torch.cat(self.shards))

    def after_forward(self, layer, args, y):
        self.free()
        y.register_hook(lambda grad: self.gather())

    def reduce_scatter(self, w):
        self.free()
        for shard, grad in zip(self.shards, w.grad.chunk(self.world)):
            part = grad / self.world
            shard.grad = part if shard.grad is None else shard.grad + part
        w.grad = None


# --8<-- [end:toy]
def ten_lines():
    torch.manual_seed(0)
    x, target = torch.randn(8, 3), torch.randint(2, (8,))
    return x, target, nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


# --8<-- [start:step]
x, target, model = ten_lines()
pairs = [(layer, w) for layer in model for w in layer.parameters()]
parts = [Sharded(layer, w, world=4) for layer, w in pairs]
# the ranks take turns
for rows, classes in zip(x.chunk(4), target.chunk(4)):
    nn.functional.cross_entropy(model(rows), classes).backward()
for rank in range(4):
    mine = [part.shards[rank] for part in parts if rank < len(part.shards)]
    torch.optim.AdamW(mine, lr=0.01).step()
    # --8<-- [end:step]
    print(f"rank {rank} steps", *(tuple(shard.shape) for shard in mine))

x, target, plain = ten_lines()
optimizer = torch.optim.AdamW(plain.parameters(), lr=0.01)
nn.functional.cross_entropy(plain(x), target).backward()
optimizer.step()
for part, right in zip(parts, plain.parameters()):
    torch.testing.assert_close(torch.cat(part.shards), right.detach())
    assert part.w.untyped_storage().size() == 0, "a whole parameter was left"
print("the shards together are the weights of one process")
