"""Two programs made of a trace, and guards on what it took for granted (torch/_dynamo, torch/_functorch)."""

import inspect

from ._tensor import TORCH_CHECK, Tensor
from .autograd import Node, SavedVariable, grad
from .dispatch import GradMode, tls
from .factories import empty, tensor
from .nn import Module
from .trace import ProxyMode

recompile_limit, NUMBERS = 8, (bool, int, float, str, type(None))


class CompiledFunctionBackward(Node):
    def apply(self, grad):
        TORCH_CHECK(not tls.grad_mode, "toytorch compiles no double backward", NotImplementedError)
        saved = [one.unpack(self).array() for one in self.saved.values()]
        return [one if one is None else tensor(one) for one in self.program(grad.array(), *saved)]


class CompiledFunction:
    """A trace of forward and backward as two programs; forward also returns what backward needs."""

    def __init__(self, function, inputs):
        with ProxyMode(inputs) as mode:
            out = function()
            new = isinstance(out, Tensor) and mode.names.get(out) not in [None, *map(mode.names.get, inputs)]
            TORCH_CHECK(new, "toytorch compiles functions that return one new tensor", NotImplementedError)
            forward, tangent, grads = len(mode.nodes), empty(out.shape, out.dtype, "meta"), {}
            mode.names[tangent] = f"a{len(mode.names)}"
            if out.requires_grad:
                followed = [x for x in inputs if x.requires_grad]
                grads = dict(zip(followed, grad(out, followed, tangent, allow_unused=True)))
        backward, self.requires_grad = mode.nodes[forward:], out.requires_grad
        made = [mode.names[x] for x, _, _ in backward] + [mode.names[tangent]]
        used = {mode.names[x]: x for _, _, args in backward for x in args if isinstance(x, Tensor)}
        saved = [x for name, x in used.items() if name not in made]
        self.code, self.forward = mode.program(mode.nodes[:forward], inputs, [out, *saved])
        self.backward_code, self.backward = mode.program(backward, [tangent, *saved], [grads.get(x) for x in inputs])

    def __call__(self, inputs):
        with GradMode(False):
            out, *saved = [tensor(one) for one in self.forward(*(x.array() for x in inputs))]
        if self.requires_grad:
            node = CompiledFunctionBackward("CompiledFunctionBackward", inputs)
            node.saved = {i: SavedVariable(x) for i, x in enumerate(saved)}
            node.program, out.grad_fn = self.backward, node
        return out


class OptimizedModule(Module):
    """A function or module, and its `cache_entries`: guards and code."""

    def __init__(self, function):
        super().__init__()
        self._orig_mod, self.cache_entries, self.recompiles, self.graph_breaks = function, [], [], 0

    def guards(self, args, inputs):
        """All that a trace takes for granted: of tensors all but their elements, of the rest the value."""
        number = lambda named: {name: one for name, one in named.items() if isinstance(one, NUMBERS)}  # noqa: E731
        modules = list(self.modules())[1:]
        found = {"torch.is_grad_enabled()": tls.grad_mode, "len(args)": len(args), "len(modules)": len(modules)}
        found |= {f"args[{i}]": arg for i, arg in enumerate(args) if not isinstance(arg, Tensor)}
        for i, x in enumerate(inputs):
            found[f"inputs[{i}]"] = x.shape, x.strides, x.dtype.name, x.device, x.requires_grad
        for i, module in enumerate(modules):
            found[f"modules[{i}]"] = type(module), number(vars(module))
        for function in [type(module).forward for module in modules] or [self._orig_mod]:
            nonlocals, names, _, _ = inspect.getclosurevars(function)
            found |= number(names | nonlocals)
        return [f"{name} == {value!r}" for name, value in found.items()]

    # --8<-- [start:forward]
    def forward(self, *args):
        inputs = [*self.parameters(), *(arg for arg in args if isinstance(arg, Tensor))]
        found, failed = self.guards(args, inputs), None
        for guards, code in self.cache_entries:
            failed = next((guard for guard in guards if guard not in found), None)
            if not failed:
                return code(inputs) if code else self._orig_mod(*args)
        if len(self.cache_entries) == recompile_limit:
            return self._orig_mod(*args)
        self.recompiles += [failed] if failed else []
        self.cache_entries.append((found, self.trace(args)))
        return self.forward(*args)

    def trace(self, args):
        """Runs the function once, on meta. What cannot be traced is a graph break: it will run as it is."""
        known = all(isinstance(arg, (Tensor, *NUMBERS)) for arg in args)
        TORCH_CHECK(known, "toytorch compiles functions of tensors and numbers", NotImplementedError)
        leaves = [arg.detach().requires_grad_(arg.requires_grad) if isinstance(arg, Tensor) else arg for arg in args]
        inputs = [*self.parameters(), *(leaf for leaf in leaves if isinstance(leaf, Tensor))]
        try:
            return CompiledFunction(lambda: self._orig_mod(*leaves), inputs)
        except (NotImplementedError, RuntimeError):
            self.graph_breaks += 1
        # --8<-- [end:forward]


compile = OptimizedModule
