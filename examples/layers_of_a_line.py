"""Each layer below a line of Python is a program of its own: run alone, it gives the line's number or its gradients."""

import torch
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


# --8<-- [start:tape]
class Tape:
    """Calls in the order they were made, with a number for each tensor instead of the tensor."""

    def __init__(self, inputs):
        super().__init__()
        self.tensors, self.steps = list(inputs), []

    def call(self, func, args, kwargs):
        numbers = [self.number(a) if isinstance(a, torch.Tensor) else None for a in args]
        out = func(*args, **(kwargs or {}))
        self.steps.append((func, args, numbers, kwargs or {}))
        self.tensors.append(out)
        return out

    def number(self, tensor):
        return next((i for i, t in enumerate(self.tensors) if t is tensor), None)

    def __call__(self, *inputs):
        """Make the calls again, on other inputs."""
        tensors = list(inputs)
        for func, args, numbers, kwargs in self.steps:
            args = [a if i is None else tensors[i] for a, i in zip(args, numbers)]
            tensors.append(func(*args, **kwargs))
        return tensors[self.result]


class Python(Tape, TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return self.call(func, args, kwargs)


class Operators(Tape, TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return self.call(func, args, kwargs)
        # --8<-- [end:tape]


# --8<-- [start:nodes]
class Nodes:
    """The graph behind a result, run without the engine: a node maps a gradient to its inputs' gradients."""

    def __init__(self, y):
        self.steps = [y.grad_fn]
        for node in self.steps:
            following = [n for n, _ in node.next_functions if n and not hasattr(n, "variable")]
            self.steps += [n for n in following if n not in self.steps]
        self.steps.sort(key=lambda node: node._sequence_nr(), reverse=True)

    def __call__(self, grad):
        grads = {self.steps[0]: grad}
        for node in self.steps:
            out = node(grads.pop(node))
            for (following, _), part in zip(node.next_functions, out if isinstance(out, tuple) else (out,)):
                if following is not None and part is not None:
                    grads[following] = grads.get(following, 0) + part
        return {node.variable: grad for node, grad in grads.items()}
        # --8<-- [end:nodes]


# --8<-- [start:compiler]
def graphs(f, inputs):
    """What torch.compile hands on: Dynamo's graph, and AOTAutograd's graphs for forward and backward."""
    found = []

    def keep(graph, example_inputs):
        found.append(graph)
        return make_boxed_func(graph)

    def backend(graph, example_inputs):
        found.append(graph)
        return aot_autograd(fw_compiler=keep)(graph, example_inputs)

    torch.compile(f, backend=backend)(*inputs).backward()
    return found


def nodes_of(graph, op):
    return [node for node in graph.graph.nodes if node.op.startswith(op)]
    # --8<-- [end:compiler]


# --8<-- [start:compare]
print("steps in: Python, operators, nodes; Dynamo's graph, forward, backward")
torch.manual_seed(0)
for line in ("(x * w + b).relu().sum()", "(x - w).square().mean() - b.max()", "torch.sin(x @ w) * b.sum()"):
    x, w, b = inputs = [torch.rand(8, requires_grad=name != "x") for name in "xwb"]
    f = eval(f"lambda x, w, b: {line}")
    with Python(inputs) as python, Operators(inputs) as operators:
        y = f(*inputs)
    python.result, operators.result = python.number(y), operators.number(y)
    nodes, (dynamo, forward, backward) = Nodes(y), graphs(f, inputs)

    takes = [("L_x_", "L_w_", "L_b_").index(node.target) for node in nodes_of(dynamo, "placeholder")]
    others = torch.rand(3, 8)
    taken = [others[i] for i in takes]
    for number in (python(*others), operators(*others), *dynamo(*taken), forward(*taken)[0]):
        torch.testing.assert_close(number, f(*others))

    taken = [inputs[i] for i in takes]
    saved = zip(nodes_of(forward, "output")[0].args[0], forward(*taken))
    held = {str(node): value for node, value in saved} | {"tangents_1": torch.ones(())}
    true = dict(zip((w, b), torch.autograd.grad(y, (w, b), retain_graph=True)))
    ours = dict(zip(taken, backward(*(held[node.target] for node in nodes_of(backward, "placeholder")))))
    for gradients in (nodes(torch.ones(())), ours):
        for leaf, grad in true.items():
            torch.testing.assert_close(gradients[leaf], grad)
    counts = [len(layer.steps) for layer in (python, operators, nodes)]
    counts += [len(nodes_of(graph, "call")) for graph in (dynamo, forward, backward)]
    print(f"{line:35}", *counts)
# --8<-- [end:compare]
