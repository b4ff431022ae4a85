"""A tensor in four parts and a placement: with a rule for each operator, it sends as much as torch's DTensor."""

import torch
import torch.distributed as dist
from torch.distributed import init_device_mesh
from torch.distributed._local_tensor import LocalTensorMode, rank_map  # private
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor.debug import CommDebugMode

DIM = {"S(0)": 0, "S(1)": 1}


class Toy:
    """A part for each of four ranks, and a placement; counts in `sent` what is sent."""

    sent = 0

    def __init__(self, parts, placement):
        self.parts, self.placement = parts, placement

    def whole(self):
        if self.placement == "R":
            return self.parts[0]
        if self.placement == "P(sum)":
            return sum(self.parts)
        return torch.cat(self.parts, DIM[self.placement])

    def redistribute(self, new):
        Toy.sent += collectives(self.placement, new)
        if new == self.placement:
            return self
        if new == "R":
            return Toy([self.whole()] * 4, new)
        return Toy(self.whole().chunk(4, DIM[new]), new)


# --8<-- [start:toy]
RELU = {("R",): "R", ("S(0)",): "S(0)", ("S(1)",): "S(1)"}
MATMUL = {
    ("R", "R"): "R",
    ("P(sum)", "R"): "P(sum)",
    ("R", "P(sum)"): "P(sum)",
    ("S(0)", "R"): "S(0)",
    ("R", "S(1)"): "S(1)",
    ("S(1)", "S(0)"): "P(sum)",
}


def collectives(old, new):
    """How many collectives change the placement `old` to `new`."""
    if new == "P(sum)" and old != new:
        return float("inf")  # no case here needs it
    return 0 if old in (new, "R") else 1


def call(operator, rule, *args):
    """Redistribute to the cheapest case of the rule, then run on the parts."""

    def cost(case):
        return sum(collectives(a.placement, p) for a, p in zip(args, case))

    case = min(rule, key=cost)
    args = [a.redistribute(p) for a, p in zip(args, case)]
    parts = [operator(*local) for local in zip(*(a.parts for a in args))]
    return Toy(parts, rule[case])


# --8<-- [end:toy]
NAMES = {"R": Replicate(), "S(0)": Shard(0), "S(1)": Shard(1), "P(sum)": Partial()}


def real(toy, mesh):
    """The DTensor with the same local tensors."""
    return DTensor.from_local(rank_map(lambda rank: toy.parts[rank].clone()), mesh, [NAMES[toy.placement]])


def same(operator, rule, toys, mesh):
    """Whether the toy and torch leave the same placement, whole and number of messages."""
    before = Toy.sent
    mine = call(operator, rule, *toys)
    theirs = [real(toy, mesh) for toy in toys]
    with CommDebugMode() as seen:
        result = operator(*theirs)
    assert result.placements == (NAMES[mine.placement],), (result.placements, mine.placement)
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

    def placed(x, placement):
        """x in four parts; as summands, in four random ones."""
        if placement == "P(sum)":
            parts = [*torch.randn(3, 8, 8)]
            return Toy([*parts, x - sum(parts)], placement)
        return Toy([x] * 4, "R").redistribute(placement)

    pairs = [(torch.matmul, MATMUL, [placed(a, p), placed(b, q)]) for p in NAMES for q in NAMES]
    singles = [(torch.relu, RELU, [placed(a, p)]) for p in NAMES]
    with LocalTensorMode(4):
        sent = [same(*case, mesh) for case in pairs + singles]
    products, relus = sent[:16], sent[16:]
    print(f"16 products, {products.count(0)} of them free, as in torch")
    print(f"4 relus, {relus.count(0)} of them free, as in torch")
    dist.destroy_process_group()
