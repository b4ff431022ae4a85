"""Two programs made of a trace, and guards on what it took for granted (torch/_dynamo, torch/_functorch)."""

import inspect

from ._tensor import TORCH_CHECK, Tensor
from .autograd import Node, SavedVariable, grad
from .dispatch import tls
from .factories import empty, tensor
from .nn import Module
from .trace import ProxyMode, program

recompile_limit = 8
NUMBERS = bool, int, float, str, type(None)


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
            forward = mode.nodes.copy()
            made = [name for name, _, _ in forward]
            new = isinstance(out, Tensor) and mode.names.get(out) in made
            TORCH_CHECK(new, "toytorch compiles functions that return one new tensor", NotImplementedError)
            tangent, grads = empty(out.shape, out.dtype, "meta"), {}
            arrives = mode.name(tangent)
            if out.requires_grad:
                followed = [x for x in inputs if x.requires_grad]
                grads = dict(zip(followed, grad(out, followed, tangent, allow_unused=True)))
        backward, self.requires_grad = mode.nodes[len(forward) :], out.requires_grad
        results = [str(mode.names.get(grads.get(x))) for x in inputs]  # None where no gradient is needed
        read = {arg for _, _, args in backward for arg in args}
        saved = [name for name in [*mode.inputs, *made] if name in read]  # what backward reads and did not make
        self.code, self.forward = program(forward, mode.inputs, [mode.names[out], *saved])
        self.backward_code, self.backward = program(backward, [arrives, *saved], results)

    def __call__(self, inputs):
        out, *saved = map(tensor, self.forward(*(x.array() for x in inputs)))
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
        numbers = lambda named: {name: one for name, one in named.items() if isinstance(one, NUMBERS)}  # noqa: E731
        modules = list(self.modules())[1:]
        facts = {"torch.is_grad_enabled()": tls.grad_mode, "len(args)": len(args), "len(modules)": len(modules)}
        facts |= {f"args[{i}]": arg for i, arg in enumerate(args) if not isinstance(arg, Tensor)}
        for i, x in enumerate(inputs):
            facts[f"inputs[{i}]"] = x.shape, x.strides, x.dtype.name, x.device, x.requires_grad
        for i, module in enumerate(modules):
            facts[f"modules[{i}]"] = type(module), numbers(vars(module))
        for function in [type(module).forward for module in modules] or [self._orig_mod]:
            nonlocals, names, _, _ = inspect.getclosurevars(function)
            facts |= numbers(names | nonlocals)
        return [f"{name} == {value!r}" for name, value in facts.items()]

    # --8<-- [start:forward]
    def forward(self, *args):
        inputs = [*self.parameters(), *(arg for arg in args if isinstance(arg, Tensor))]
        found, failed = self.guards(args, inputs), []
        for guards, code in self.cache_entries:
            failed = [guard for guard in guards if guard not in found]
            if not failed:
                return code(inputs) if code else self._orig_mod(*args)  # None after a graph break
        if len(self.cache_entries) == recompile_limit:
            return self._orig_mod(*args)
        self.recompiles += failed[:1]
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
        except RuntimeError:
            self.graph_breaks += 1
        # --8<-- [end:forward]


compile = OptimizedModule
