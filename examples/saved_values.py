"""A saved tensor is a tensor and a number, and backward refuses when the number has moved."""

import itertools
from contextlib import suppress

import torch


# --8<-- [start:saved]
class Saved:
    def __init__(self, x):
        if x.is_inference():
            raise RuntimeError("Inference tensors cannot be saved")
        self.x, self.expected = x, x._version

    def unpack(self):
        if self.x is None:
            raise RuntimeError("backward through the graph a second time")
        if (now := self.x._version) != self.expected:
            said = f"version {now}; expected version {self.expected}"
            raise RuntimeError(said)
        return self.x


class Node:
    def __init__(self, derivative, *needed):
        self.derivative = derivative
        self.saved = [Saved(x) for x in needed]

    def backward(self, grad, retain_graph):
        values = [saved.unpack() for saved in self.saved]
        if not retain_graph:
            for saved in self.saved:
                saved.x = None
        return self.derivative(grad, *values)


# --8<-- [end:saved]
# --8<-- [start:operations]
def operations(x):
    exp, tanh, sqrt, relu = x.exp(), x.tanh(), x.sqrt(), x.relu()
    return {
        "exp": (exp, Node(lambda g, y: g * y, exp)),
        "tanh": (tanh, Node(lambda g, y: g * (1 - y * y), tanh)),
        "sqrt": (sqrt, Node(lambda g, y: g / (2 * y), sqrt)),
        "relu": (relu, Node(lambda g, y: g * (y > 0), relu)),
        "sin": (x.sin(), Node(lambda g, x: g * x.cos(), x)),
        "square": (x.square(), Node(lambda g, x: g * (2 * x), x)),
        "neg": (-x, Node(lambda g: -g)),
    }


# --8<-- [end:operations]
# --8<-- [start:compare]
def run(events, x, y, backward):
    """What each backward came to: a gradient, or a message."""
    writes = {"write x": x.add_, "write y": y.add_}
    done = []
    for event in events:
        if event in writes:
            writes[event](1)
            continue
        try:
            done.append(backward(event == "retain"))
        except RuntimeError as error:
            done.append(str(error))
    return done


start, ones = torch.tensor([0.5, 2.0]), torch.ones(2)


def in_the_toy(name, events):
    x = start.clone()
    y, node = operations(x)[name]
    return run(events, x, y, lambda retain: node.backward(ones, retain))


def in_torch(name, events):
    w = start.clone().requires_grad_()
    x = w.clone()  # may be written to, and clone saves nothing
    y = getattr(x, name)()

    def backward(retain):
        return torch.autograd.grad(y.sum(), w, retain_graph=retain)[0]

    return run(events, x, y, backward)


# --8<-- [end:compare]
def agree(mine, theirs):
    if isinstance(mine, str):
        return mine in theirs
    return torch.allclose(mine, theirs)


refused = {"second time": 0, "expected version": 0}
programs = list(itertools.product(["write x", "write y", "backward", "retain"], repeat=4))
for name, events in itertools.product(operations(start), programs):
    mine, theirs = in_the_toy(name, events), in_torch(name, events)
    assert all(map(agree, mine, theirs)), (name, events, mine, theirs)
    for words in refused:
        refused[words] += any(words in str(one) for one in mine)

with torch.inference_mode():
    unnoticed = torch.ones(2)
for save in (Saved, lambda x: torch.ones(2, requires_grad=True) * x):
    with suppress(RuntimeError):
        save(unnoticed)
        raise AssertionError("an inference tensor was saved")

print(f"{len(programs) * len(operations(start))} programs end as in torch")
print(", ".join(f"{count} with {words!r}" for words, count in refused.items()))
