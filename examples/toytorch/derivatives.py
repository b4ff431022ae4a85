"""How each operator is derived, and the kernels of autograd (tools/autograd/derivatives.yaml, VariableType.cpp)."""

from ._tensor import TORCH_CHECK
from .autograd import Node, SavedVariable
from .dispatch import Operator, aten, key_set, tls
from .view import reduced, sum_to

DERIVATIVES = """
_log_softmax: self = grad - result.exp() * grad.sum(dim, True)
add: self = grad; other = grad * alpha
clone: self = grad
copy_: self = grad * 0; src = grad
div: self = grad / other; other = -grad * ((self / other) / other)
exp: self = grad * result
expand: self = grad
log: self = grad / self
mm: self = grad.mm(mat2.t()); mat2 = self.t().mm(grad)
mul: self = grad * other; other = grad * self
neg: self = -grad
relu: self = aten.threshold_backward(grad, result, 0)
select: self = select_backward(grad, self_sizes, index)
sqrt: self = grad / (2 * result)
sub: self = grad; other = grad * -alpha
sum: self = sum_backward(grad, self_sizes, dim)
t: self = grad.t()
tanh: self = grad * (1 - result * result)
threshold_backward: grad_output = aten.threshold_backward(grad, self, threshold)
view: self = grad.reshape(self_sizes)
zero_: self = grad * 0
"""
CODE = {}  # operator -> argument -> formula; a name in a formula is saved for backward


def derivative(line):
    """Compiles a line of DERIVATIVES."""
    name, _, text = line.partition(": ")
    rules = (rule.split(" = ", 1) for rule in text.split("; "))
    CODE[name.removesuffix("_")] = {arg: compile(formula, "derivatives.yaml", "eval") for arg, formula in rules}


for line in DERIVATIVES.strip().splitlines():
    derivative(line)


def sum_backward(grad, sizes, dim):
    dims = reduced(dim, len(sizes))
    return grad.reshape([1 if d in dims else n for d, n in enumerate(sizes)]).expand(sizes)


def select_backward(grad, sizes, index):
    zeros = aten.full(sizes, 0.0)
    zeros[index].copy_(grad)
    return zeros


class FunctionNode(Node):
    """The node of an operator: an edge for each formula, and what the formulas that are followed need."""

    def __init__(self, name, named):
        formulas = CODE.get(name.removesuffix("_"), CODE["zero"])  # what is overwritten counts no more
        super().__init__(f"{name.title().replace('_', '')}Backward0", [named[arg] for arg in formulas])
        edges = zip(self.next_functions, formulas.items())
        self.code = {arg: formula if node else None for (node, _), (arg, formula) in edges}
        self.needed = {name for formula in self.code.values() if formula for name in formula.co_names}
        tensors = {arg: x for arg, x in named.items() if hasattr(x, "key_set")}
        self.values = {arg: value for arg, value in named.items() if arg not in tensors}
        self.values |= {f"{arg}_sizes": x.shape for arg, x in tensors.items()}
        for arg in tensors.keys() & self.needed:
            overwritten = arg == "self" and name.endswith("_")
            self.saved[arg] = SavedVariable(named[arg].detach().clone() if overwritten else named[arg])

    def apply(self, grad):
        found = {"grad": grad} | self.values | {arg: one.unpack(self) for arg, one in self.saved.items()}
        grads = {arg: eval(formula, globals(), found) for arg, formula in self.code.items() if formula}
        return [sum_to(grads[arg], found[f"{arg}_sizes"]) if arg in grads else None for arg in self.code]


# --8<-- [start:variable_type]
def variable_type(op, keys, *args):
    """The kernel at the Autograd keys: make a node, run the operator below, give the result its node."""
    name, node = op.name[6:], None
    if tls.grad_mode and any(getattr(arg, "requires_grad", False) for arg in args):
        if name.endswith("_"):
            check_inplace(args[0])
        if name in CODE or name.endswith("_"):
            node = FunctionNode(name, dict(zip(op.schema.parameters, args)))
    result = op.redispatch(keys - key_set("AutogradCPU", "AutogradMeta"), *args)
    if node:
        result.grad_fn = node
        if "result" in node.needed:
            node.saved["result"] = SavedVariable(result, is_output=True)
    return result
    # --8<-- [end:variable_type]


def check_inplace(x):
    TORCH_CHECK(not x._requires_grad, "a leaf Variable that requires grad is being used in an in-place operation.")
    alone = not x.version_counter.has_views
    TORCH_CHECK(alone, "toytorch follows no in-place operation on a view, or on what has one", NotImplementedError)


def inplace_or_view(op, keys, self, *args):
    """The kernel at ADInplaceOrView: a write adds one to the version, which a view shares, and a view has a base."""
    result = op.redispatch(keys - key_set("ADInplaceOrView"), self, *args)
    if op.name.endswith("_"):
        self.version_counter.version += 1
    elif result.storage is self.storage:
        result.version_counter = self.version_counter
        if op is not aten.detach:
            result._base = self if self._base is None else self._base
            self.version_counter.has_views = True
    return result


Operator.fallbacks |= {"AutogradCPU": variable_type, "AutogradMeta": variable_type, "ADInplaceOrView": inplace_or_view}
