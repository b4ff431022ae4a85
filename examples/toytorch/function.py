"""The nodes of a graph and the tensors that they save (torch/csrc/autograd/function.h, saved_variable.cpp)."""

import itertools
import weakref

from .derivatives import DERIVATIVES, FUNCTIONS
from .storage import TORCH_CHECK

sequence_numbers = itertools.count()
CODE = {}  # operator -> argument -> formula
for line in DERIVATIVES.strip().splitlines():
    rules = (rule.split(" = ", 1) for rule in line.partition(": ")[2].split("; "))
    CODE[line.partition(": ")[0]] = {arg: compile(text, "derivatives.yaml", "eval") for arg, text in rules}
FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)
MODIFIED = (
    "one of the variables needed for gradient computation has been modified by an inplace operation: [torch.{}Tensor "
    "{}]{}, is at version {}; expected version {} instead. Hint: enable anomaly detection to find the operation that "
    "failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
)


class SavedVariable:
    """A tensor that backward needs, and its version. An output is saved without its node, which would be a cycle."""

    def __init__(self, variable, is_output=False):
        self.variable = variable.detach() if is_output else variable
        self.is_output, self.saved_version = is_output, variable._version

    def unpack(self, node):
        x = self.variable
        TORCH_CHECK(x is not None, FREED)
        if self.is_output:
            x._grad_fn = node
        which = (
            f", which is output {x.output_nr} of {x._grad_fn.name().removesuffix('Backward0')}" if x._grad_fn else ""
        )
        said = MODIFIED.format(x.dtype.scalar_type, list(x.shape), which, x._version, self.saved_version)
        TORCH_CHECK(x._version == self.saved_version, said)
        return x


class Node:
    def __init__(self, name, inputs, outputs=()):
        self._name, self.sequence_nr, self.saved = name, next(sequence_numbers), {}
        self.next_functions = tuple(gradient_edge(x) for x in inputs)
        self.input_metadata = [(x.shape, x.dtype) for x in outputs]  # what forward returned, backward gets

    def name(self):
        return self._name

    def _sequence_nr(self):
        return self.sequence_nr

    def release_variables(self):
        for saved in self.saved.values():
            saved.variable = None

    def __getattr__(self, name):
        if name.startswith("_saved_") and name[7:] in self.saved:
            return self.saved[name[7:]].unpack(self)
        raise AttributeError(f"'{self._name}' object has no attribute '{name}'")


class FunctionNode(Node):
    """The node of an operator: an edge for each formula, and what the formulas that are followed need."""

    def __init__(self, name, named):
        self.code = CODE.get(name) or CODE[name.removesuffix("_")]
        title = "".join(part.title() for part in name.strip("_").split("_"))
        super().__init__(f"{title}Backward0", [named[arg] for arg in self.code])
        edges = zip(self.next_functions, self.code.values())
        self.values, self.needed = {}, {name for (node, _), code in edges if node for name in code.co_names}
        for arg, x in named.items():
            if not hasattr(x, "key_set"):
                self.values[arg] = x
                continue
            self.values |= {f"{arg}_sizes": x.shape, f"{arg}_numel": x.numel()}
            if arg in self.needed:
                self.saved[arg] = SavedVariable(x.detach().clone() if arg == "self" and name.endswith("_") else x)

    def set_result(self, result):
        self.input_metadata, self.values["result_numel"] = [(result.shape, result.dtype)], result.numel()
        if "result" in self.needed:
            self.saved["result"] = SavedVariable(result, is_output=True)

    def apply(self, grad):
        found = {"grad": grad} | self.values | {arg: one.unpack(self) for arg, one in self.saved.items()}
        edges = zip(self.next_functions, self.code.values())
        return [eval(code, FUNCTIONS, found) if node else None for (node, _), code in edges]


class AccumulateGrad(Node):
    def __init__(self, variable):
        super().__init__("torch::autograd::AccumulateGrad", [], [variable])
        self.variable, self.sequence_nr = variable, 2**64 - 1  # the engine runs it as soon as it can

    def apply(self, grad):
        self.variable.grad = grad if self.variable.grad is None else self.variable.grad + grad
        return []


def gradient_edge(x):
    """The node that takes the gradient of x, and the number of x among the outputs of that node in forward."""
    if not getattr(x, "requires_grad", False):
        return None, 0
    accumulator = x.grad_fn or (x._grad_accumulator and x._grad_accumulator())
    if accumulator is None:
        accumulator = AccumulateGrad(x)
        x._grad_accumulator = weakref.ref(accumulator)  # the node has the tensor, and not the other way around
    return accumulator, x.output_nr
