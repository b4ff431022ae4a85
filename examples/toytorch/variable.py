"""What autograd adds to each call (the generated VariableType.cpp, torch/csrc/autograd/variable.cpp)."""

from contextlib import ContextDecorator

from .dispatch import after_ADInplaceOrView, after_autograd, aten, key_set, tls
from .function import CODE, FunctionNode
from .storage import TORCH_CHECK


class GradMode(ContextDecorator):
    enabled = True

    def __init__(self, mode):
        self.mode = mode

    def __enter__(self):
        self.previous, GradMode.enabled = GradMode.enabled, self.mode

    def __exit__(self, *error):
        GradMode.enabled = self.previous


def variable_type(op, keys, *args):
    """The kernel at the Autograd keys: make a node, run the operator below, give the result its node."""
    name, node = op.name.removeprefix("aten::"), None
    if GradMode.enabled and any(getattr(arg, "requires_grad", False) for arg in args):
        if name.endswith("_"):
            check_inplace(args[0])
        if name in CODE or name.removesuffix("_") in CODE:
            bound = op.schema.bind(*args)
            bound.apply_defaults()
            node = FunctionNode(name, bound.arguments)
    before, tls.excluded = tls.excluded, tls.excluded | key_set("AutogradCPU", "AutogradMeta")
    try:
        result = op.redispatch(keys & after_autograd, *args)
    finally:
        tls.excluded = before
    if node and any(function for function, _ in node.next_functions):
        node.set_result(result)
        result._grad_fn, result._attr_version = node, result._version
    return result


def check_inplace(x):
    said = "a {}leaf Variable that requires grad is being used in an in-place operation."
    TORCH_CHECK(x._base is not None or not x._requires_grad, said.format(""))
    TORCH_CHECK(x._base is None or not x._base._requires_grad, said.format("view of a "))
    said = "toytorch does not follow an in-place operation on a view"
    TORCH_CHECK(x._base is None, said, NotImplementedError)


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


def register(views):
    """Registers these kernels for all operators that are not made of others."""
    for name, op in vars(aten).items():
        if "CompositeImplicitAutograd" not in op.kernels and "BackendSelect" not in op.kernels:
            op.impl("Autograd", variable_type)
            if op.name in views or name.endswith("_"):
                op.impl("ADInplaceOrView", as_view if op.name in views else increment_version)
