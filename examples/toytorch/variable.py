"""What autograd adds to each call (the generated VariableType.cpp and ADInplaceOrViewType.cpp)."""

from .derivatives import CODE
from .dispatch import after_ADInplaceOrView, after_autograd, aten, key_set, tls
from .function import FunctionNode
from .storage import TORCH_CHECK
from .view import VIEWS


# --8<-- [start:variable_type]
def variable_type(op, keys, *args):
    """The kernel at the Autograd keys: make a node, run the operator below, give the result its node."""
    name, node = op.name.removeprefix("aten::"), None
    if tls.grad_mode and any(getattr(arg, "requires_grad", False) for arg in args):
        if name.endswith("_"):
            check_inplace(args[0])
        if name.removesuffix("_") in CODE:
            node = FunctionNode(name, dict(zip(op.schema.parameters, args)))
    before, tls.excluded = tls.excluded, tls.excluded | key_set("AutogradCPU", "AutogradMeta")
    try:
        result = op.redispatch(keys & after_autograd, *args)
    finally:
        tls.excluded = before
    if node and result.dtype.is_floating_point and any(function for function, _ in node.next_functions):
        node.set_result(result)
        result._grad_fn, result._attr_version = node, result._version
    return result
    # --8<-- [end:variable_type]


def check_inplace(x):
    said = "a {}leaf Variable that requires grad is being used in an in-place operation."
    TORCH_CHECK(not x._requires_grad, said.format(""))
    TORCH_CHECK(x._base is None or not x._base._requires_grad, said.format("view of a "))
    TORCH_CHECK(x._base is None, "toytorch follows no in-place operation on a view", NotImplementedError)


def as_view(op, keys, self, *args):
    """The kernel of views at ADInplaceOrView. A view has its base, and shares the version counter."""
    result = op.redispatch(keys & after_ADInplaceOrView, self, *args)
    result.version_counter, result._attr_version = self.version_counter, self._version
    if op.name != "aten::detach":
        result._base = self if self._base is None else self._base
    return result


def increment_version(op, keys, self, *args):
    """The kernel of in-place operators at ADInplaceOrView."""
    op.redispatch(keys & after_ADInplaceOrView, self, *args)
    self.version_counter.version += 1
    return self


def register():
    """Registers these kernels for all operators but those that are made of others, or of nothing."""
    for name, op in vars(aten).items():
        if not {"CompositeImplicitAutograd", "BackendSelect"} & set(op.kernels):
            op.impl("Autograd", variable_type)
            if name in VIEWS or name.endswith("_"):
                op.impl("ADInplaceOrView", as_view if name in VIEWS else increment_version)
