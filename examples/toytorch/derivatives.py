"""How each operator is derived, and the kernels of autograd (tools/autograd/derivatives.yaml, VariableType.cpp)."""

import re

from ._tensor import TORCH_CHECK, Tensor
from .autograd import Node, SavedVariable
from .dispatch import DispatchKeySet, Operator, aten, tls
from .view import reduced, sum_to

DERIVATIVES = """
_log_softmax: self = grad - result.exp() * grad.sum(dim, True)
add: self = grad; other = grad * alpha
clone: self = grad
div: self = grad / other; other = -grad * ((self / other) / other)
exp: self = grad * result
expand: self = grad
log: self = grad / self
mm: self = grad.mm(mat2.t()); mat2 = self.t().mm(grad)
mul: self = grad * other; other = grad * self
neg: self = -grad
relu: self = aten.threshold_backward(grad, result, 0)
sqrt: self = grad / (2 * result)
sub: self = grad; other = grad * -alpha
sum: self = sum_backward(grad, self_sizes, dim)
t: self = grad.t()
tanh: self = grad * (1 - result * result)
threshold_backward: grad_output = aten.threshold_backward(grad, self, threshold)
view: self = grad.reshape(self_sizes)
"""
FORMULAS = {}  # operator -> argument -> the formula, with the gradient and the value of the result: grad, result


def derivative(line):
    name, text = line.split(": ")
    FORMULAS[name] = dict(rule.split(" = ") for rule in text.split("; "))


for line in DERIVATIVES.strip().splitlines():
    derivative(line)


def sum_backward(grad, sizes, dim):
    dims = reduced(dim, len(sizes))
    return grad.reshape([1 if d in dims else n for d, n in enumerate(sizes)]).expand(sizes)


class FunctionNode(Node):
    """The node of an operator: an edge for each argument that has a formula, and what the formulas name."""

    def __init__(self, op, arguments):  # by name. The comments follow x @ w, where only w requires grad
        name = op.short.removesuffix("_")  # mm
        formulas = FORMULAS[name]  # self: grad.mm(mat2.t()), mat2: self.t().mm(grad)
        super().__init__(f"{name.title().replace('_', '')}Backward0", [arguments[arg] for arg in formulas])
        edges = zip(formulas, self.next_functions)  # self has None, mat2 the AccumulateGrad of w
        self.formulas = {arg: formulas[arg] if edge else None for arg, edge in edges}  # self: None, mat2: as above
        texts = filter(None, self.formulas.values())
        self.names_in_formulas = set(re.findall(r"\w+", " ".join(texts)))  # self t mm grad
        tensors = {arg: x for arg, x in arguments.items() if isinstance(x, Tensor)}  # self: x, mat2: w
        self.values = {arg: x for arg, x in arguments.items() if arg not in tensors}  # none yet; of add, alpha
        for arg, x in tensors.items():
            self.values[f"{arg}_sizes"] = x.shape  # self_sizes, mat2_sizes
            if arg in self.names_in_formulas:  # only self: x is saved, w is not
                overwritten = op.inplace and arg == "self"  # then backward needs a copy of what it was
                self.saved[arg] = SavedVariable(x.detach().clone() if overwritten else x)

    def apply(self, grad):
        scope = {"grad": grad, **self.values}  # in a formula, self is the operator's argument
        scope |= {arg: saved.unpack(self) for arg, saved in self.saved.items()}
        return [
            formula and sum_to(eval(formula, globals(), scope), scope[f"{arg}_sizes"])
            for arg, formula in self.formulas.items()
        ]


def variable_type(op, keys, *args):
    """The kernel at the Autograd keys: make a node if needed, run the operator below, give the result its node."""
    node = None
    if tls.grad_mode and any(getattr(arg, "requires_grad", False) for arg in args):
        if op.inplace:
            check_inplace(args[0])
        if op.short.removesuffix("_") in FORMULAS:
            node = FunctionNode(op, dict(zip(op.schema.parameters, args)))
    result = op.redispatch(keys - DispatchKeySet("AutogradCPU", "AutogradMeta"), *args)
    if node:
        result.grad_fn = node
        if "result" in node.names_in_formulas:
            node.saved["result"] = SavedVariable(result, is_output=True)
    return result


def check_inplace(x):
    TORCH_CHECK(not x._requires_grad, "a leaf Variable that requires grad is being used in an in-place operation.")
    alone = x._base is None and not x.version_counter.views
    TORCH_CHECK(alone, "toytorch follows no in-place operation on a view, or on what has one", NotImplementedError)


def inplace_or_view(op, keys, self, *args):
    """The kernel at ADInplaceOrView: a write adds one to the version, which a view shares, and a view has a base."""
    result = op.redispatch(keys - DispatchKeySet("ADInplaceOrView"), self, *args)
    if op.inplace:
        self.version_counter.version += 1
    elif result.storage is self.storage:
        result.version_counter = self.version_counter
        if op is not aten.detach:
            result._base = self if self._base is None else self._base
            self.version_counter.views.add(result)
    return result


Operator.fallbacks |= {"AutogradCPU": variable_type, "AutogradMeta": variable_type, "ADInplaceOrView": inplace_or_view}
