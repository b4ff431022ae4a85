"""An optimizer is a list of groups and a dict of state: torch's own goes on from what this toy saved."""

import copy
import itertools

import torch


# --8<-- [start:base]
class Optimizer:
    def __init__(self, params, **defaults):
        self.defaults, self.state, self.param_groups = defaults, {}, []
        groups = list(params)
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.param_groups.append({**defaults, **group})

    def step(self):
        with torch.no_grad():
            for group in self.param_groups:
                for w in group["params"]:
                    if w.grad is not None:
                        self.update(w, self.state.setdefault(w, {}), group)

    # --8<-- [end:base]

    def zero_grad(self):
        for w in self.tensors():
            w.grad = None

    def tensors(self):
        return itertools.chain(*(g["params"] for g in self.param_groups))

    def state_dict(self):
        number = {w: i for i, w in enumerate(self.tensors())}
        state = {number[w]: kept for w, kept in self.state.items()}
        groups = [dict(group) for group in self.param_groups]
        for group in groups:
            group["params"] = [number[w] for w in group["params"]]
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, saved):
        tensors = list(self.tensors())
        self.state = {tensors[i]: s for i, s in saved["state"].items()}
        for group, theirs in zip(self.param_groups, saved["param_groups"]):
            group.update({**theirs, "params": group["params"]})


# --8<-- [start:rule]
class SGD(Optimizer):
    def update(self, w, state, group):
        buf = state.setdefault("momentum_buffer", torch.zeros_like(w))
        buf.mul_(group["momentum"]).add_(w.grad)
        w.sub_(group["lr"] * buf)


# --8<-- [end:rule]
# --8<-- [start:compare]
def make(kind, weights, **settings):
    a, b, never = weights
    groups = [{"params": [never, a]}, {"params": [b], "lr": 0.01}]
    return kind(groups, lr=0.1, momentum=0.9, **settings)


def train(optimizer, weights, steps):
    a, b, _ = weights
    for _ in range(steps):
        optimizer.zero_grad()
        ((a * b - 1) ** 2).sum().backward()
        optimizer.step()


def weights():
    return [torch.tensor([v, -v], requires_grad=True) for v in (1.5, 0.5, 4.0)]


mine, theirs = weights(), weights()
toy, real = make(SGD, mine), make(torch.optim.SGD, theirs)
for _ in range(2):
    train(toy, mine, 5)
    train(real, theirs, 5)
    for w, v in zip(mine, theirs):
        torch.testing.assert_close(w, v)
    a, b = copy.deepcopy((toy.state_dict(), real.state_dict()))
    assert a["state"].keys() == b["state"].keys() == {1, 2}
    for ours, group in zip(a["param_groups"], b["param_groups"]):
        assert ours == {key: group[key] for key in ours}
    # Each goes on from what the other one saved; torch's groups say more.
    real.load_state_dict({**a, "param_groups": b["param_groups"]})
    toy.load_state_dict(b)
# --8<-- [end:compare]
print("ten steps, the state exchanged every five: the same weights as torch")
