"""Run two steps and count the bytes of every storage that is alive."""

import random
import weakref
from itertools import pairwise

import torch
from check import compare
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

PLAIN = True
RULES = {
    "SGD": lambda w: torch.optim.SGD(w, lr=0.1, foreach=False),
    "momentum": lambda w: torch.optim.SGD(w, lr=0.1, momentum=0.9, foreach=False),
    "Adam": lambda w: torch.optim.Adam(w, foreach=True),
}


class Live(TorchDispatchMode):
    """The bytes alive, and the most there were."""

    def __init__(self, tensors):
        super().__init__()
        self.alive = self.peak = 0
        self.count(tensors)

    def count(self, found):
        for t in filter(torch.is_tensor, tree_leaves(found)):
            storage = t.untyped_storage()
            if not hasattr(storage, "counted"):
                storage.counted = True
                self.alive += storage.nbytes()
                weakref.finalize(storage, self.gone, storage.nbytes())
        self.peak = max(self.peak, self.alive)

    def gone(self, size):
        self.alive -= size

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        self.count(out)
        return out


def measured(widths, batch, optimizer, clear):
    """(parameters and state, saved activations, peak) of the second step, in bytes."""
    parts = [part for n in pairwise(widths) for part in (nn.Linear(*n), nn.ReLU())]
    model, x = nn.Sequential(*parts[:-1]), torch.ones(batch, widths[0])
    weights = list(model.parameters())
    rule = RULES[optimizer](weights)

    def step(live=None):
        if clear == "before":
            rule.zero_grad()
        before = live and live.alive
        loss = model(x).sum()
        after = live and live.alive - before - loss.nbytes
        if clear == "after":
            rule.zero_grad()
        loss.backward()
        rule.step()
        return after

    step()
    lasting = [weights, [t for held in rule.state.values() for t in held.values() if torch.is_tensor(t)]]
    always = sum(t.nbytes for t in tree_leaves(lasting))
    with Live([*lasting, x, [w.grad for w in weights]]) as live:
        kept = step(live)
    return always, kept, live.peak


def always(widths, optimizer, counts=True, bias=True, adam=2, momentum=1):
    sizes = [4 * (a * b + b * bias) for a, b in pairwise(widths)]
    state = {"SGD": 0, "momentum": momentum * sum(sizes), "Adam": adam * sum(sizes) + 8 * len(sizes) * counts}
    return sum(sizes) + state[optimizer]


def peak(
    widths,
    batch,
    optimizer,
    clear,
    clears=True,
    relu=True,
    input_of_relu=True,
    small=True,
    foreach=True,
    flowing=True,
    x=True,
    seen=("forward", "backward", "step"),
    added=False,
):
    """The peak by the rules, wrong in what is given."""
    sizes, rows = [4 * (a * b + b) for a, b in pairwise(widths)], [4 * batch * width for width in widths]
    base, old = always(widths, optimizer) + rows[0] * x, sum(sizes) * (clear == "after" and clears)
    kept, found = 0, {"forward": [], "backward": [], "step": []}
    for hidden in rows[1:-1]:
        found["forward"].append(base + old + kept + (1 + input_of_relu) * hidden)
        kept += hidden
    found["forward"].append(base + old + kept + rows[-1] + 4 * small)
    if added:
        return base + sum(sizes) + kept + 8 * small
    gradients, coming = 0, 0
    for i in reversed(range(len(sizes))):
        going = rows[i] * (i > 0) * flowing
        gradients += sizes[i]
        found["backward"].append(base + 8 * small + kept + gradients + coming + going)
        if i and relu:
            found["backward"].append(base + 8 * small + kept + gradients + 2 * going)
        kept -= rows[i] * (i > 0)
        coming = going
    found["step"].append(base + 4 * small + gradients + sum(sizes) * (optimizer == "Adam" and foreach))
    return max(moment for call in seen for moment in found[call])


def wrong(**how):
    return lambda *case: peak(*case, **how)


ALWAYS = {
    "You may have left out the step counts. Adam keeps one float32 of 4 bytes for each parameter tensor, so two for "
    "each linear layer.": lambda *case: always(*case, counts=False),
    "You may have left out the biases. A linear layer has a weight of a * b numbers and a bias of b.": (
        lambda *case: always(*case, bias=False)
    ),
    "You may have given Adam one tensor a parameter. It keeps two: a mean of gradients and a mean of their "
    "squares.": lambda *case: always(*case, adam=1),
    "You may have given SGD with momentum two tensors a parameter. It keeps one, the momentum buffer.": (
        lambda *case: always(*case, momentum=2)
    ),
}
SAVED = {
    "You may have counted the input and the result of ReLU. Its node saves the result only, and the linear layer "
    "before it does not save what it returned.": lambda widths, batch: 8 * batch * sum(widths[1:-1]),
    "You may have counted the result of the last layer. `sum` saves no tensor, so this result is freed when forward "
    "is over.": (lambda widths, batch: 4 * batch * sum(widths[1:])),
    "You may have counted x. It is the batch, which exists before forward.": (
        lambda widths, batch: 4 * batch * sum(widths[:-1])
    ),
    "You may have counted numbers instead of bytes. A float32 has 4.": lambda widths, batch: batch * sum(widths[1:-1]),
}
PEAK = {
    "You may have added up everything. The saved activations and all gradients are never alive at the same moment: "
    "while gradients come, activations go.": wrong(added=True),
    "You may have taken the step for the peak. With a large batch, the activations in backward are more than the "
    "gradients in the step.": wrong(seen=("step",)),
    "You may have left out the old gradients. With zero_grad() after forward, the gradients of the step before are "
    "alive during the whole of forward.": wrong(clears=False),
    "You may have left out forward. Where ReLU runs, its input and its result are alive at once, and with "
    "zero_grad() after forward the old gradients are, too.": wrong(seen=("backward", "step")),
    "You may have left out the temporaries of Adam. With foreach=True, it makes one tensor for each parameter before "
    "it uses the first. Without them, the step would never be the peak.": wrong(foreach=False),
    "You may have left out the gradients of activations. In backward, each node gets one and makes the next one, "
    "and both are alive while it runs.": wrong(flowing=False),
    "You may have left out the node of ReLU in backward. While it runs, three tensors of a hidden layer's size are "
    "alive: the result it saved, and two gradients.": wrong(relu=False),
    "You may have freed the input of ReLU too early. While ReLU runs, its input and its result are both alive.": wrong(
        input_of_relu=False
    ),
    "You may have left out tensors of one number. The loss is 4 bytes, alive from forward to the end, and backward "
    "starts from a gradient of the loss, 4 more.": wrong(small=False),
    "You may have left out the batch. x is alive during the whole step.": wrong(x=False),
}


def cases(draw):
    yield (8, 16, 4), 32, "Adam", "before"
    for _ in range(80):
        widths = tuple(draw.choice((2, 8, 30, 64, 100, 256)) for _ in range(draw.randint(2, 5)))
        yield widths, draw.choice((1, 4, 32, 256)), draw.choice(list(RULES)), draw.choice(("before", "after"))


def check(work):
    found = {case: measured(*case) for case in cases(random.Random(0))}
    first = {(widths, optimizer): now[0] for (widths, _, optimizer, _), now in found.items()}
    second = {(widths, batch): now[1] for (widths, batch, *_), now in found.items()}
    third = {case: now[2] for case, now in found.items()}
    for name, right, ideas, otherwise in (
        ("always", first, ALWAYS, "Add up weights and biases, then one tensor a parameter for momentum, two for Adam."),
        ("saved", second, SAVED, "What the nodes save beside x and the weights are the results of the ReLUs."),
        (
            "peak",
            third,
            PEAK,
            "Write down what is alive while each ReLU runs in forward, while each node runs in backward, and in the "
            "step. The peak is the largest of these sums.",
        ),
    ):
        compare(name, list(right), getattr(work, name), lambda *case, right=right: right[case], ideas, otherwise)
