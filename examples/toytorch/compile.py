"""Two programs made of a trace, and guards on what it took for granted (torch/_dynamo, torch/_functorch)."""

import inspect

from ._tensor import TORCH_CHECK, Tensor
from .autograd import Node, SavedVariable
from .dispatch import tls
from .factories import tensor
from .memory import UntypedStorage
from .nn import Module
from .trace import VIEWS, ProxyMode, program

NUMBERS = bool, int, float, str, type(None)


def numbers(named):
    return {name: value for name, value in named.items() if isinstance(value, NUMBERS)}


def fact(arg):  # what a trace depends on: of a number the value, of a tensor all but the elements
    if isinstance(arg, Tensor):
        return arg.shape, arg.strides, arg.dtype.name, arg.device, arg.requires_grad
    TORCH_CHECK(isinstance(arg, NUMBERS), "toytorch compiles functions of tensors and numbers", NotImplementedError)
    return arg


def fake(x):  # a leaf like x, without data
    return Tensor(UntypedStorage(0, "meta"), x.dtype, x.shape, x.strides).requires_grad_(x.requires_grad)


class CompiledFunctionBackward(Node):
    def apply(self, grad):
        saved = [one.unpack(self).array() for one in self.saved.values()]
        return [None if one is None else tensor(one) for one in self.program(grad.array(), *saved)]


class CompiledFunction:  # a trace as two programs; that of backward gets inputs and results of that of forward
    def __init__(self, function, args, fakes):
        with ProxyMode(fakes) as mode:
            out = function(*args)
            traced = isinstance(out, Tensor) and out in mode.names and all(out.storage is not x.storage for x in fakes)
            TORCH_CHECK(traced, "toytorch compiles functions that return one new tensor", NotImplementedError)
            forward_nodes = mode.nodes.copy()
            tangent = fake(out.detach())
            arrives = mode.name(tangent)
            if out.requires_grad:
                out.backward(tangent)  # runs the engine, and the mode writes down the operators of the formulas
        backward_nodes, self.requires_grad = mode.nodes[len(forward_nodes) :], out.requires_grad
        read = {arg for _, _, args in backward_nodes for arg in args}
        for name, op, args in reversed(forward_nodes):
            if op in VIEWS and name in read:  # backward makes a view anew, of what is saved
                backward_nodes.insert(0, (name, op, args))
                read = read - {name} | {*args}
        self.saved_inputs = [i for i, name in enumerate(mode.inputs) if name in read]
        results = [name for name, _, _ in forward_nodes if name in read]
        saved = [mode.inputs[i] for i in self.saved_inputs] + results
        grads = ["None" if x.grad is None else mode.names[x.grad] for x in fakes]
        self.code, self.forward_program = program(forward_nodes, mode.inputs, [mode.names[out], *results])
        self.backward_code, self.backward_program = program(backward_nodes, [arrives, *saved], grads)

    def __call__(self, inputs):
        out, *results = [tensor(array) for array in self.forward_program(*(x.array() for x in inputs))]
        if self.requires_grad:
            node = CompiledFunctionBackward("CompiledFunctionBackward", inputs)
            saved = [inputs[i] for i in self.saved_inputs] + results
            node.saved = {i: SavedVariable(x) for i, x in enumerate(saved)}
            node.program, out.grad_fn = self.backward_program, node
        return out


class OptimizedModule(Module):  # a function or module, and its `cache_entries`: guards and code
    def __init__(self, function):
        super().__init__()
        self._orig_mod, self.cache_entries, self.recompiles = function, [], []

    def guards(self, args):  # what a trace takes for granted, as text
        modules, order = list(self.modules())[1:], {p: i for i, p in enumerate(self.parameters())}
        facts = {"torch.is_grad_enabled()": tls.grad_mode, "len(args)": len(args)}
        facts |= {f"args[{i}]": fact(arg) for i, arg in enumerate(args)}
        facts |= {f"parameters[{i}]": fact(p) for i, p in enumerate(self.parameters())}
        facts["modules"] = [(type(m), numbers(vars(m)), [order[p] for p in m._parameters.values()]) for m in modules]
        for i, f in enumerate([type(module).forward for module in modules] or [self._orig_mod]):
            TORCH_CHECK(inspect.isfunction(f), "toytorch compiles modules and functions", NotImplementedError)
            outside = inspect.getclosurevars(f)
            facts[f"outside[{i}]"] = numbers(outside.globals | outside.nonlocals), f.__defaults__, f.__kwdefaults__
        return [f"{name} == {value!r}" for name, value in facts.items()]

    def inputs(self, args):
        return [*self.parameters(), *(arg for arg in args if isinstance(arg, Tensor))]

    # --8<-- [start:forward]
    def forward(self, *args):
        found, failed = self.guards(args), []
        for guards, compiled in self.cache_entries:
            failed = [guard for guard in guards if guard not in found]
            if not failed:
                return compiled(self.inputs(args))
        self.recompiles += failed[:1]  # of the last entry
        compiled = self.trace(args)
        TORCH_CHECK(self.guards(args) == found, "toytorch compiles no change of what it guards", NotImplementedError)
        self.cache_entries.append((found, compiled))
        return compiled(self.inputs(args))

    def trace(self, args):
        """Runs the function once, on tensors without data, also in the place of the parameters."""
        args = [fake(arg) if isinstance(arg, Tensor) else arg for arg in args]
        fakes = {p: fake(p) for p in self.parameters()}
        homes = [(module._parameters, dict(module._parameters)) for module in self.modules()]
        for home, real in homes:
            home.update({name: fakes[p] for name, p in real.items()})
        try:
            return CompiledFunction(self._orig_mod, args, self.inputs(args))  # inputs finds the fakes
        finally:
            for home, real in homes:
                home.update(real)
        # --8<-- [end:forward]


compile = OptimizedModule
