"""A backward graph may have far more paths than edges, so a walk over it must remember where it was."""

import torch
from torch.nn.functional import linear


# --8<-- [start:walk]
def label(node, names):
    if hasattr(node, "variable"):
        found = [name for name, x in names.items() if x is node.variable]
        return f"AccumulateGrad of {found[0] if found else 'a leaf'}"
    said = node.name()
    for attribute in dir(node):
        if attribute.startswith("_saved_"):
            value = getattr(node, attribute)
            if isinstance(value, torch.Tensor):
                shape = "x".join(map(str, value.shape))
                said += f", {attribute.removeprefix('_saved_')} {shape}"
    return said


def walk(node, names, depth=0, seen=None):
    seen = {} if seen is None else seen
    if node in seen:
        print("  " * depth + f"{seen[node]} again")
        return []
    seen[node] = len(seen)
    print("  " * depth + f"{seen[node]} {label(node, names)}")
    met = [node]
    for following, _ in node.next_functions:
        if following is not None:
            met += walk(following, names, depth + 1, seen)
    return met


# --8<-- [end:walk]
# --8<-- [start:count]
def paths(node):
    following = [n for n, _ in node.next_functions if n is not None]
    return sum(map(paths, following)) if following else 1


# --8<-- [end:count]
torch.manual_seed(0)
x = torch.rand(5, 3)
names = {"w1": torch.rand(4, 3), "b": torch.rand(4), "w2": torch.rand(3, 4)}
for w in names.values():
    w.requires_grad_()
h = linear(x, names["w1"], names["b"]).relu()
loss = (linear(h, names["w2"]) - x).pow(2).mean()
met = walk(loss.grad_fn, names)

run = []
for node in met:
    node.register_prehook(lambda _, node=node: run.append(node))
loss.backward()
assert len(run) == len(met) and set(run) == set(met)

x = torch.ones(1, requires_grad=True)
y = x
for _ in range(4):
    y = y + y
edges = sum(len(node.next_functions) for node in walk(y.grad_fn, {"x": x})[:-1])
y.backward()
assert paths(y.grad_fn) == x.grad.item() == 2**4
print(f"{edges} edges, {paths(y.grad_fn)} paths to x, and dy/dx is {x.grad.item():.0f}")
