"""torch.compile: a trace, and guards on what it took for granted (_dynamo/guards.py, _functorch/aot_autograd.py)."""

import inspect

from ._tensor import Tensor
from .autograd import grad
from .dispatch import aten, tls
from .function import GradMode, Node, SavedVariable
from .nn import Module
from .storage import TORCH_CHECK
from .trace import ProxyMode, fake, key, load

recompile_limit, NUMBERS = 8, (bool, int, float, str, type(None))


class CompiledFunctionBackward(Node):
    def apply(self, grad):
        TORCH_CHECK(not tls.grad_mode, "toytorch compiles no double backward", NotImplementedError)
        grads = iter(self.program(*(saved.unpack(self) for saved in self.saved.values()), grad.contiguous()))
        return [next(grads) if function else None for function, _ in self.next_functions]


class CompiledFunction:
    """A trace of forward and backward as two programs; forward also returns what backward needs."""

    def __init__(self, function, inputs):
        mode, tangents, grads = ProxyMode(inputs), [], []
        with mode:
            out = function()
            new = isinstance(out, Tensor) and key(out) in mode.names and key(out) not in map(key, inputs)
            TORCH_CHECK(new, "toytorch compiles functions that return one new tensor", NotImplementedError)
            forward = len(mode.nodes)
            if out.requires_grad:
                tangents = [aten.ones_like(out)]
                mode.nodes.pop()
                grads = grad(out, [x for x in inputs if x.requires_grad], *tangents, allow_unused=True)
        used = [x for _, _, args in mode.nodes[forward:] for x in args if isinstance(x, Tensor)]
        made = {key(x) for x, _, _ in mode.nodes[forward:]} | {key(x) for x in tangents}
        saved = list({mode.names[key(x)]: x for x in used if key(x) not in made}.values())
        self.code = mode.generate(mode.nodes[:forward], inputs, [out, *saved])
        self.backward_code = mode.generate(mode.nodes[forward:], saved + tangents, grads)
        self.requires_grad, self.forward, self.backward = out.requires_grad, load(self.code), load(self.backward_code)

    def __call__(self, inputs):
        with GradMode(False):
            out, *saved = self.forward(*inputs)
        if self.requires_grad:
            node = CompiledFunctionBackward("CompiledFunctionBackward", inputs, out.shape)
            node.saved = {i: SavedVariable(x, x is out) for i, x in enumerate(saved)}
            node.program, out._grad_fn = self.backward, node
        return out


class OptimizedModule(Module):
    """A function or module, and its `cache_entries`: guards and code."""

    def __init__(self, function):
        super().__init__()
        self._orig_mod, self.cache_entries, self.recompiles, self.graph_breaks = function, [], [], 0

    def guards(self, modules, inputs, args):
        """All that a trace takes for granted: of tensors all but their elements, of the rest the value."""
        found = {"torch.is_grad_enabled()": tls.grad_mode, "len(args)": len(args), "len(inputs)": len(inputs)}
        found |= {f"args[{i}]": arg for i, arg in enumerate(args) if not isinstance(arg, Tensor)}
        for i, x in enumerate(inputs):
            for name in ("shape", "strides", "dtype", "device", "requires_grad"):
                found[f"inputs[{i}].{name}"] = getattr(x, name)
        for i, module in enumerate(modules):
            numbers = {name: value for name, value in vars(module).items() if isinstance(value, NUMBERS)}
            found[f"modules[{i}]"] = type(module), numbers
        for function in [type(module).forward for module in modules] or [self._orig_mod]:
            nonlocals, names, _, _ = inspect.getclosurevars(function)
            found |= {name: value for name, value in (names | nonlocals).items() if isinstance(value, NUMBERS)}
        return [f"{name} == {value!r}" for name, value in found.items()]

    # --8<-- [start:forward]
    def forward(self, *args):
        known = all(isinstance(arg, (Tensor, *NUMBERS)) for arg in args)
        TORCH_CHECK(known, "toytorch compiles functions of tensors and numbers", NotImplementedError)
        modules = list(self._orig_mod.modules()) if isinstance(self._orig_mod, Module) else []
        parameters = list(self._orig_mod.parameters()) if modules else []
        inputs = [*parameters, *(arg for arg in args if isinstance(arg, Tensor))]
        found, failed = self.guards(modules, inputs, args), None
        for guards, code in self.cache_entries:
            failed = next((guard for guard in guards if guard not in found), None)
            if not failed:
                return code(inputs) if code else self._orig_mod(*args)
        if len(self.cache_entries) == recompile_limit:
            return self._orig_mod(*args)
        self.recompiles += [failed] if failed else []
        fakes = [fake(arg) if isinstance(arg, Tensor) else arg for arg in args]
        inputs = [*parameters, *(one for one in fakes if isinstance(one, Tensor))]
        try:
            code = CompiledFunction(lambda: self._orig_mod(*fakes), inputs)
        except (NotImplementedError, RuntimeError):
            code, self.graph_breaks = None, self.graph_breaks + 1  # it runs as it is, and raises what it has to
        self.cache_entries.append((found, code))
        return self.forward(*args) if code else self._orig_mod(*args)
        # --8<-- [end:forward]


def compile(model):
    return OptimizedModule(model)
