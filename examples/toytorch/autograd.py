"""Nodes, the tensors that they save, and the engine (torch/csrc/autograd/function.h, saved_variable.h, engine.cpp)."""

import itertools
import weakref
from collections import Counter

from ._tensor import TORCH_CHECK
from .dispatch import GradMode, aten

sequence_numbers = itertools.count()


class SavedVariable:
    """A tensor that backward needs, and its version. An output is saved without its node, which would be a cycle."""

    def __init__(self, variable, is_output=False):
        self.variable = variable.detach() if is_output else variable
        self.is_output, self.saved_version = is_output, variable._version

    def unpack(self, node):
        x = self.variable
        TORCH_CHECK(x is not None, "Trying to backward through the graph a second time: its saved tensors are freed.")
        if x._version != self.saved_version:
            said = "one of the variables needed for gradient computation has been modified by an inplace operation: "
            made_by = node if self.is_output else x.grad_fn
            which = f", which is output 0 of {made_by.name()}," if made_by else ""
            versions = f"is at version {x._version}; expected version {self.saved_version} instead."
            raise RuntimeError(f"{said}{list(x.shape)}{which} {versions}")
        return x


class Node:
    """A function of backward. `apply` gets the gradient of its output and returns a list: one for each input."""

    def __init__(self, name, inputs):
        self._name, self.sequence_nr, self.saved = name, next(sequence_numbers), {}
        self.next_functions = [gradient_edge(x) for x in inputs]

    def name(self):
        return self._name

    def release_variables(self):
        for saved in self.saved.values():
            saved.variable = None


class AccumulateGrad(Node):
    """The node of a leaf. It has the leaf, so the leaf has a weak reference to it: else both would be a cycle."""

    def __init__(self, variable):
        super().__init__("torch::autograd::AccumulateGrad", [])
        self.variable, self.sequence_nr = variable, 2**64 - 1  # the engine runs it as soon as it can
        variable._grad_accumulator = weakref.ref(self)

    def apply(self, grad):
        x = self.variable
        x.grad = grad.clone() if x.grad is None else x.grad.add_(grad)  # a clone: others may have this gradient, too
        return []


def gradient_edge(x):  # the node that takes the gradient of x; None if x needs none
    if not getattr(x, "requires_grad", False):
        return None
    return x.grad_fn or x._grad_accumulator() or AccumulateGrad(x)  # all uses of a leaf in a graph share a node


def compute_dependencies(root):  # how many gradients each node waits for
    dependencies, nodes = Counter(), [root]
    for node in nodes:  # which grows, until all nodes below the root are in it
        for function in filter(None, node.next_functions):
            if function not in dependencies:
                nodes.append(function)
            dependencies[function] += 1
    return dependencies


def execute(root, grad):
    dependencies, ready, grads = compute_dependencies(root), [root], {root: grad}
    while ready:
        node = max(ready, key=lambda node: node.sequence_nr)
        ready.remove(node)
        # A node has no gradient if a compiled program had none for it.
        outputs = node.apply(grads.pop(node)) if node in grads else [None] * len(node.next_functions)
        node.release_variables()
        for function, output in zip(node.next_functions, outputs):
            if function is None:
                continue
            if output is not None:
                grads[function] = grads[function] + output if function in grads else output
            dependencies[function] -= 1
            if dependencies[function] == 0:
                ready.append(function)


@GradMode(False)
def backward(tensor, gradient=None):
    TORCH_CHECK(tensor.requires_grad, "element 0 of tensors does not require grad and does not have a grad_fn")
    if gradient is None:
        TORCH_CHECK(tensor.numel() == 1, "grad can be implicitly created only for scalar outputs")
        gradient = aten.full(tensor.shape, 1.0, device=tensor.device)
    said = "Mismatch in shape: grad_output[0] has a shape of torch.Size({}) and output[0] has a shape of torch.Size({})"
    TORCH_CHECK(gradient.shape == tensor.shape, said.format([*gradient.shape], [*tensor.shape]) + ".")
    execute(gradient_edge(tensor), gradient)
