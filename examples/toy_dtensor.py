"""A tensor in four parts and a placement: with a rule for each operator, it sends as much as torch's DTensor."""

import torch
import torch.distributed as dist
from torch.distributed import init_device_mesh
from torch.distributed._local_tensor import LocalTensorMode, rank_map  # private
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor.debug import CommDebugMode

# --8<-- [start:toy]
MATMUL = {("R", "R"): "R", ("P", "R"): "P", ("R", "P"): "P"}
MATMUL |= {(0, "R"): 0, ("R", 1): 1, (1, 0): "P"}


def messages(old, new):
    """How many collectives a change of placement takes."""
    return float("inf") if new == "P" != old else int(old not in ("R", new))


class Toy:
    sent = 0

    def __init__(self, parts, at):
        self.parts, self.at = parts, at  # a tensor for each rank; R, P or a dim

    def whole(self):
        if self.at == "R":
            return self.parts[0]
        if self.at == "P":
            return sum(self.parts)
        return torch.cat(self.parts, self.at)

    def to(self, new):
        Toy.sent += messages(self.at, new)
        if new == self.at:
            return self
        whole = self.whole()
        return Toy([whole] * 4 if new == "R" else whole.chunk(4, new), new)

    def __matmul__(self, other):
        def cost(rule):
            return messages(self.at, rule[0]) + messages(other.at, rule[1])

        left, right = min(MATMUL, key=cost)
        pairs = zip(self.to(left).parts, other.to(right).parts)
        return Toy([a @ b for a, b in pairs], MATMUL[left, right])

    def relu(self):
        moved = self.to("R") if self.at == "P" else self
        return Toy([part.relu() for part in moved.parts], moved.at)


# --8<-- [end:toy]
NAMES = {"R": Replicate(), 0: Shard(0), 1: Shard(1), "P": Partial()}


def real(toy, mesh):
    """The DTensor with the same local tensors."""
    return DTensor.from_local(rank_map(lambda rank: toy.parts[rank].clone()), mesh, [NAMES[toy.at]])


def same(call, toys, mesh):
    """Whether the toy and torch leave the same placement, whole and number of messages."""
    before = Toy.sent
    mine = call(*toys)
    theirs = [real(toy, mesh) for toy in toys]
    with CommDebugMode() as seen:
        result = call(*theirs)
    assert result.placements == (NAMES[mine.at],), (result.placements, mine.at)
    torch.testing.assert_close(result.full_tensor().reconcile(), mine.whole())
    sent = Toy.sent - before
    assert sent == seen.get_total_counts(), (sent, seen.get_comm_counts())
    return sent


if __name__ == "__main__":
    dist.init_process_group("fake", rank=0, world_size=4)
    torch.manual_seed(0)
    a, b = torch.randn(2, 8, 8)
    with LocalTensorMode(4):
        mesh = init_device_mesh("cpu", (4,))

    def placed(x, at):
        """x in four parts; as summands, in four random ones."""
        if at == "P":
            parts = [*torch.randn(3, 8, 8)]
            return Toy([*parts, x - sum(parts)], at)
        return Toy([x], "R").to(at) if at != "R" else Toy([x] * 4, "R")

    cases = [(lambda x, y: x @ y, placed(a, p), placed(b, q)) for p in NAMES for q in NAMES]
    cases += [(lambda x: x.relu(), placed(a, p)) for p in NAMES]
    with LocalTensorMode(4):
        sent = [same(call, toys, mesh) for call, *toys in cases]
    products, relus = sent[:16], sent[16:]
    print(f"16 products, {products.count(0)} of them free, as in torch")
    print(f"4 relus, {relus.count(0)} of them free, as in torch")
    dist.destroy_process_group()
