"""A result knows how it was made: which node, which of its outputs, and the nodes before it."""

import torch

x = torch.tensor([2.0, 3.0, 5.0], requires_grad=True)
a, b, c = x.unbind()
y = a * b + a.sin()


# --8<-- [start:read]
def edges(node):
    return [edge for edge in node.next_functions if edge[0] is not None]


def in_order(node, met):
    """Every node after all the nodes that send it a gradient."""
    if node not in met:
        for following, _ in edges(node):
            in_order(following, met)
        met.append(node)
    return met


order = in_order(y.grad_fn, [])[::-1]
print("a, b, c are outputs", a.output_nr, b.output_nr, c.output_nr, "of one node")
assert a.grad_fn is b.grad_fn is c.grad_fn and y.output_nr == 0
for number, node in enumerate(order):
    leads = [f"output {nr} of {order.index(following)}" for following, nr in edges(node)]
    print(number, node.name().removeprefix("torch::autograd::"), "->", ", ".join(leads) or "x.grad")
# --8<-- [end:read]


# --8<-- [start:derive]
def gradients(order, grad):
    """What each leaf gets, by calling the nodes ourselves: each once, with a gradient for each of its outputs."""
    arrived = {(order[0], 0): grad}
    for node in order:
        if hasattr(node, "variable"):
            yield node.variable, arrived[node, 0]
            continue
        outputs = range(len(node._input_metadata))  # private: one entry for each output that forward had
        made = node(*[arrived.get((node, nr)) for nr in outputs])
        for edge, piece in zip(node.next_functions, made if isinstance(made, tuple) else (made,)):
            arrived[edge] = arrived[edge] + piece if edge in arrived else piece


found = dict(gradients(order, torch.ones(())))
print("gradient of x:", [round(v, 4) for v in found[x].tolist()])
y.backward()
assert found.keys() == {x} and torch.equal(found[x], x.grad)
# --8<-- [end:derive]

with torch.no_grad():
    assert torch.allclose(x.grad, torch.stack([b + a.cos(), a, 0 * c]))
