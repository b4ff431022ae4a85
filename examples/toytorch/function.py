"""The nodes of a graph and the tensors that they save (torch/csrc/autograd/function.h, saved_variable.cpp)."""

import itertools
import weakref
from contextlib import contextmanager

from .derivatives import CODE, FUNCTIONS
from .dispatch import tls
from .storage import TORCH_CHECK

sequence_numbers = itertools.count()


@contextmanager
def GradMode(mode):
    """c10/core/GradMode.h"""
    before, tls.grad_mode = tls.grad_mode, mode
    try:
        yield
    finally:
        tls.grad_mode = before


# --8<-- [start:SavedVariable]
class SavedVariable:
    """A tensor that backward needs, and its version. An output is saved without its node, which would be a cycle."""

    def __init__(self, variable, is_output=False):
        self.variable = variable.detach() if is_output else variable
        self.is_output, self.saved_version = is_output, variable._version

    def unpack(self, node):
        x = self.variable
        said = "Trying to backward through the graph a second time (or directly access saved tensors after they have "
        TORCH_CHECK(x is not None, said + "already been freed). Specify retain_graph=True in the first backward.")
        if self.is_output:
            x._grad_fn = node
        said = "one of the variables needed for gradient computation has been modified by an inplace operation: "
        which = f", which is output 0 of {x._grad_fn.name()}," if x._grad_fn else ""
        versions = f" is at version {x._version}; expected version {self.saved_version} instead."
        TORCH_CHECK(x._version == self.saved_version, f"{said}{list(x.shape)}{which}{versions}")
        return x
        # --8<-- [end:SavedVariable]


class Node:
    def __init__(self, name, inputs, input_shape=None):
        self._name, self.sequence_nr, self.saved = name, next(sequence_numbers), {}
        self.next_functions = tuple(gradient_edge(x) for x in inputs)
        self.input_shape = input_shape  # of what forward returned, and of the gradient that backward gets

    def name(self):
        return self._name

    def release_variables(self):
        for saved in self.saved.values():
            saved.variable = None


class FunctionNode(Node):
    """The node of an operator: an edge for each formula, and what the formulas that are followed need."""

    def __init__(self, name, named):
        self.code, title = CODE[name.removesuffix("_")], "".join(part.title() for part in name.strip("_").split("_"))
        super().__init__(f"{title}Backward0", [named[arg] for arg in self.code])
        edges = zip(self.next_functions, self.code.values())
        self.needed = {name for (node, _), code in edges if node for name in code.co_names}
        tensors = {arg: x for arg, x in named.items() if hasattr(x, "key_set")}
        self.values = {arg: value for arg, value in named.items() if arg not in tensors}
        self.values |= {f"{arg}_sizes": x.shape for arg, x in tensors.items()}
        for arg in tensors.keys() & self.needed:
            x = named[arg].detach().clone() if arg == "self" and name.endswith("_") else named[arg]
            self.saved[arg] = SavedVariable(x)

    def set_result(self, result):
        self.input_shape = result.shape
        if "result" in self.needed:
            self.saved["result"] = SavedVariable(result, is_output=True)

    def apply(self, grad):
        found = {"grad": grad} | self.values | {arg: one.unpack(self) for arg, one in self.saved.items()}
        edges = zip(self.next_functions, self.code.values())
        return [eval(code, FUNCTIONS, found) if node else None for (node, _), code in edges]


class AccumulateGrad(Node):
    def __init__(self, variable):
        super().__init__("torch::autograd::AccumulateGrad", [], variable.shape)
        self.variable, self.sequence_nr = variable, 2**64 - 1  # the engine runs it as soon as it can

    def apply(self, grad):
        before = self.variable.grad
        if before is None:
            self.variable.grad = grad.clone()  # others may have this gradient too
        else:
            self.variable.grad = before + grad if tls.grad_mode else before.add_(grad)
        return []


def gradient_edge(x):
    """The node that takes the gradient of x, and which of its outputs x is: all have one."""
    if not getattr(x, "requires_grad", False):
        return None, 0
    accumulator = x.grad_fn or (x._grad_accumulator and x._grad_accumulator())
    if accumulator is None:
        accumulator = AccumulateGrad(x)
        x._grad_accumulator = weakref.ref(accumulator)  # the node has the tensor, and not the other way around
    return accumulator, 0
