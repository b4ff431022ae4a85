"""torch.compile: call what was compiled if its guards hold, else compile again (torch/_dynamo/guards.py)."""

from ._tensor import Tensor
from .aot_autograd import CompiledFunction, Unsupported
from .nn import Module
from .variable import GradMode

recompile_limit = 8


class OptimizedModule(Module):
    """A function or module, and its `cache_entries`: guards (what to look at, and what was there) and code."""

    def __init__(self, function):
        super().__init__()
        self._orig_mod, self.cache_entries, self.recompiles, self.graph_breaks = function, [], [], 0

    def guarded(self, inputs, args):
        """All that a trace takes for granted: of tensors all but their elements, of other arguments the value."""
        found = {"torch.is_grad_enabled()": GradMode.enabled, "len(inputs)": len(inputs)}
        found |= {f"args[{i}]": arg for i, arg in enumerate(args) if not isinstance(arg, Tensor)}
        if isinstance(self._orig_mod, Module):
            found["training"] = [module.training for module in self._orig_mod.modules()]
        for i, x in enumerate(inputs):
            for name in ("shape", "strides", "dtype", "device", "requires_grad"):
                found[f"inputs[{i}].{name}"] = getattr(x, name)
        return found

    def forward(self, *args):
        parameters = self._orig_mod.parameters() if isinstance(self._orig_mod, Module) else ()
        inputs = [*parameters, *(arg for arg in args if isinstance(arg, Tensor))]
        found, failed = self.guarded(inputs, args), None
        for guards, code in self.cache_entries:
            failed = next((f"{name} == {value}" for name, value in guards.items() if found.get(name) != value), None)
            if not failed:
                return code(inputs) if code else self._orig_mod(*args)
        if len(self.cache_entries) == recompile_limit:
            return self._orig_mod(*args)
        self.recompiles += [failed] if failed else []
        try:
            code = CompiledFunction(lambda: self._orig_mod(*args), inputs)
        except (Unsupported, NotImplementedError, RuntimeError):
            code, self.graph_breaks = None, self.graph_breaks + 1  # it runs as it is, and raises what it has to
        self.cache_entries.append((found, code))
        return self.forward(*args)


def compile(model):
    return OptimizedModule(model)
