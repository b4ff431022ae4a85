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
        TORCH_CHECK(x is not None, "Trying to backward through the graph a second time without retain_graph=True.")
        if self.is_output:
            x.grad_fn = node
        if x._version != self.saved_version:
            said = "one of the variables needed for gradient computation has been modified by an inplace operation: "
            which = f", which is output 0 of {x.grad_fn.name()}," if x.grad_fn else ""
            versions = f"is at version {x._version}; expected version {self.saved_version} instead."
            raise RuntimeError(f"{said}{list(x.shape)}{which} {versions}")
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
        variable._grad_accumulator = weakref.ref(self)  # the node has the tensor, and not the other way around

    def apply(self, grad):
        x = self.variable
        add = aten.add if tls.grad_mode else aten.add_
        x.grad = add(x.grad, grad) if x.grad is not None else grad.clone()  # others may have it too
        return []


def gradient_edge(x):
    """The node that takes the gradient of x, and which of its outputs x is: all have one."""
    if not getattr(x, "requires_grad", False):
        return None, 0
    return x.grad_fn or x._grad_accumulator() or AccumulateGrad(x), 0


# --8<-- [start:execute]
def execute(root, grad, keep_graph, captured):
    dependencies, unseen = Counter(), [root]  # how many gradients each node waits for
    while unseen:
        functions = [function for function, _ in unseen.pop().next_functions if function]
        unseen += set(functions) - dependencies.keys()
        dependencies.update(functions)
    ready, grads = [root], {root: grad}
    while ready:
        node = max(ready, key=lambda node: node.sequence_nr)
        ready.remove(node)
        grad = grads.pop(node, None)
        if node in captured:
            captured[node] = grad
        if captured and isinstance(node, AccumulateGrad):
            continue
        outputs = [None] * len(node.next_functions) if grad is None else node.apply(grad)
        if not keep_graph:
            node.release_variables()
        for (function, _), output in zip(node.next_functions, outputs):
            if not function:
                continue
            if output is not None:
                grads[function] = grads[function] + output if function in grads else output
            dependencies[function] -= 1
            if not dependencies[function]:
                ready.append(function)
    # --8<-- [end:execute]


def backward(tensor, gradient=None, retain_graph=None, create_graph=False, captured=()):
    TORCH_CHECK(tensor.requires_grad, "element 0 of tensors does not require grad and does not have a grad_fn")
    if gradient is None:
        TORCH_CHECK(tensor.numel() == 1, "grad can be implicitly created only for scalar outputs")
        gradient = aten.ones_like(tensor)
    said = "Mismatch in shape: grad_output[0] has a shape of torch.Size({}) and output[0] has a shape of torch.Size({})"
    TORCH_CHECK(gradient.shape == tensor.shape, said.format([*gradient.shape], [*tensor.shape]) + ".")
    keep_graph = create_graph if retain_graph is None else retain_graph
    with GradMode(create_graph):
        execute(gradient_edge(tensor)[0], gradient, keep_graph, captured)


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
