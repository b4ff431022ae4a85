"""Nodes, the tensors that they save, and the engine (torch/csrc/autograd/function.h, saved_variable.h, engine.cpp)."""

import itertools
import weakref
from collections import Counter

from ._tensor import TORCH_CHECK
from .dispatch import GradMode, aten, tls

sequence_numbers = itertools.count()


# --8<-- [start:SavedVariable]
class SavedVariable:
    """A tensor that backward needs, and its version. An output is saved without its node, which would be a cycle."""

    def __init__(self, variable, is_output=False):
        self.variable = variable.detach() if is_output else variable
        self.is_output, self.saved_version = is_output, variable._version

    def unpack(self, node):
        x = self.variable
        said = "Trying to backward through the graph a second time. Specify retain_graph=True in the first backward."
        TORCH_CHECK(x is not None, said)
        if self.is_output:
            x.grad_fn = node
        said = "one of the variables needed for gradient computation has been modified by an inplace operation: "
        which = f", which is output 0 of {x.grad_fn.name()}," if x.grad_fn else ""
        versions = f" is at version {x._version}; expected version {self.saved_version} instead."
        TORCH_CHECK(x._version == self.saved_version, f"{said}{list(x.shape)}{which}{versions}")
        return x
        # --8<-- [end:SavedVariable]


class Node:
    def __init__(self, name, inputs):
        self._name, self.sequence_nr, self.saved = name, next(sequence_numbers), {}
        self.next_functions = tuple(gradient_edge(x) for x in inputs)

    def name(self):
        return self._name

    def release_variables(self):
        for saved in self.saved.values():
            saved.variable = None


class AccumulateGrad(Node):
    def __init__(self, variable):
        super().__init__("torch::autograd::AccumulateGrad", [])
        self.variable, self.sequence_nr = variable, 2**64 - 1  # the engine runs it as soon as it can

    def apply(self, grad):
        before, add = self.variable.grad, aten.add if tls.grad_mode else aten.add_
        self.variable.grad = add(before, grad) if before is not None else grad.clone()  # others may have it too
        return []


def gradient_edge(x):
    """The node that takes the gradient of x, and which of its outputs x is: all have one."""
    if not getattr(x, "requires_grad", False):
        return None, 0
    node = x.grad_fn or (x._grad_accumulator and x._grad_accumulator()) or AccumulateGrad(x)
    if x.grad_fn is None:
        x._grad_accumulator = weakref.ref(node)  # the node has the tensor, and not the other way around
    return node, 0


# --8<-- [start:execute]
def execute(root, grad, keep_graph, create_graph, captured):
    dependencies, nodes = Counter(), [root]  # how many gradients each node waits for
    for node in nodes:
        for function, _ in node.next_functions:
            nodes += [function] if function and function not in dependencies else []
            dependencies[function] += 1
    ready, not_ready = {root: grad}, {}
    while ready:
        node = max(ready, key=lambda node: node.sequence_nr)
        grad = ready.pop(node)
        if node in captured:
            captured[node] = grad
        if captured and isinstance(node, AccumulateGrad):
            continue
        with GradMode(create_graph):
            outputs = [None] * len(node.next_functions) if grad is None else node.apply(grad)
            if not keep_graph:
                node.release_variables()
            for (function, _), output in zip(node.next_functions, outputs):
                dependencies[function] -= 1
                if function and output is not None:
                    before = not_ready.get(function)
                    not_ready[function] = output if before is None else before + output
                if function and not dependencies[function]:
                    ready[function] = not_ready.pop(function, None)
    # --8<-- [end:execute]


def backward(tensor, gradient=None, retain_graph=None, create_graph=False, captured=()):
    TORCH_CHECK(tensor.requires_grad, "element 0 of tensors does not require grad and does not have a grad_fn")
    if gradient is None:
        TORCH_CHECK(tensor.numel() == 1, "grad can be implicitly created only for scalar outputs")
        gradient = aten.ones_like(tensor)
    said = "Mismatch in shape: grad_output[0] has a shape of torch.Size({}) and output[0] has a shape of torch.Size({})"
    TORCH_CHECK(gradient.shape == tensor.shape, said.format([*gradient.shape], [*tensor.shape]) + ".")
    keep_graph = create_graph if retain_graph is None else retain_graph
    execute(gradient_edge(tensor)[0], gradient, keep_graph, create_graph, captured)


def grad(output, inputs, grad_output=None, retain_graph=None, create_graph=False, allow_unused=False):
    """The gradients of the inputs, a tuple. No leaf gets a .grad."""
    nodes = [gradient_edge(x)[0] for x in (inputs if isinstance(inputs, (list, tuple)) else [inputs])]
    captured = dict.fromkeys(nodes)
    TORCH_CHECK(all(nodes), "One of the differentiated Tensors does not require grad")
    backward(output, grad_output, retain_graph, create_graph, captured)
    for i, node in enumerate(nodes):
        said = f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set allow_unused"
        TORCH_CHECK(allow_unused or captured[node] is not None, f"{said}=True if this is the desired behavior.")
    return tuple(captured[node] for node in nodes)
