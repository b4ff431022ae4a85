"""Two programs made of a trace, and guards on what it took for granted (torch/_dynamo, torch/_functorch)."""

import inspect
from collections import ChainMap

from ._tensor import TORCH_CHECK, Tensor
from .autograd import Node, SavedVariable
from .dispatch import tls
from .factories import tensor
from .memory import UntypedStorage
from .nn import Module
from .trace import ProxyMode, program, what_backward_reads

CONSTANTS = bool, int, float, str, type(None)


def constants(named):
    return {name: value for name, value in named.items() if isinstance(value, CONSTANTS) and name[-2:] != "__"}


def fact(arg):  # what a trace depends on: of a constant the value, of a tensor all but the elements
    if isinstance(arg, Tensor):
        return arg.shape, arg.strides, arg.dtype.name, arg.device, arg.requires_grad
    TORCH_CHECK(isinstance(arg, CONSTANTS), "toytorch compiles functions of tensors and numbers", NotImplementedError)
    return arg


def outside(function):  # numbers that its code names, global or of a closure, and its defaults
    TORCH_CHECK(inspect.isfunction(function), "toytorch compiles modules and functions", NotImplementedError)
    named = inspect.getclosurevars(function)
    return constants(named.globals | named.nonlocals), function.__defaults__, function.__kwdefaults__


def fake(x):  # a leaf like x, without data
    return Tensor(UntypedStorage(0, "meta"), x.dtype, x.shape, x.strides).requires_grad_(x.requires_grad)


class CompiledFunctionBackward(Node):
    def apply(self, grad):
        saved = [one.unpack(self).array() for one in self.saved.values()]
        return [None if one is None else tensor(one) for one in self.program(grad.array(), *saved)]


class CompiledFunction:
    """Two programs. One takes the inputs, and returns the output and what backward reads. The other takes the gradient
    of the output and what was saved, and returns gradients. The comments follow relu(x @ w), as those in trace.py."""

    def __init__(self, function, args, fakes):
        with ProxyMode(fakes) as mode:  # it writes down forward: (a2, mm, [a0, a1]), (a3, relu, [a2])
            out = function(*args)
            new = isinstance(out, Tensor) and out in mode.names and all(out.storage is not x.storage for x in fakes)
            TORCH_CHECK(new, "toytorch compiles functions that return one new tensor", NotImplementedError)
            forward_nodes = mode.nodes.copy()
            tangent = fake(out.detach())  # the gradient of the output: a4
            tangent_name = mode.name(tangent)
            if out.requires_grad:
                out.backward(tangent)  # the engine runs the formulas, and the mode writes their operators down, too
        backward_nodes, self.requires_grad = mode.nodes[len(forward_nodes) :], out.requires_grad
        reads = what_backward_reads(forward_nodes, backward_nodes)
        self.saved_positions = [i for i, name in enumerate(mode.input_names) if name in reads]  # 0, as a0 is read
        result_names = [name for name, _, _ in forward_nodes if name in reads]  # a3
        saved_names = [mode.input_names[i] for i in self.saved_positions] + result_names  # a0, a3
        grad_names = ["None" if x.grad is None else mode.names[x.grad] for x in fakes]  # None, a7
        self.code, self.forward_program = program(forward_nodes, mode.input_names, [mode.names[out], *result_names])
        self.backward_code, self.backward_program = program(backward_nodes, [tangent_name, *saved_names], grad_names)

    def __call__(self, inputs):  # tensors, in the order of input_names
        out, *results = [tensor(array) for array in self.forward_program(*(x.array() for x in inputs))]
        if self.requires_grad:
            node = CompiledFunctionBackward("CompiledFunctionBackward", inputs)
            saved = [inputs[i] for i in self.saved_positions] + results
            node.saved = {i: SavedVariable(x) for i, x in enumerate(saved)}
            node.program, out.grad_fn = self.backward_program, node
        return out


class OptimizedModule(Module):  # a function or module, and its `cache_entries`: guards and code
    def __init__(self, function):
        super().__init__()
        self._orig_mod, self.cache_entries, self.recompiles = function, [], []

    def guards(self, args):  # what a trace takes for granted, as texts: "args[0] == ((8, 3), (3, 1), 'float32', ..."
        modules, order = list(self.modules())[1:], {p: i for i, p in enumerate(self.parameters())}  # tied: the same i
        facts = {"torch.is_grad_enabled()": tls.grad_mode, "len(args)": len(args)}
        facts |= {f"args[{i}]": fact(arg) for i, arg in enumerate(args)}
        facts |= {f"parameters[{i}]": fact(p) for i, p in enumerate(self.parameters())}
        for i, m in enumerate(modules):  # its class, which parameters and modules it has, and numbers, also of classes
            numbers = constants(ChainMap(vars(m), *map(vars, type(m).__mro__)))
            facts[f"modules[{i}]"] = type(m), {n: order[p] for n, p in m._parameters.items()}, [*m._modules], numbers
        for i, function in enumerate([type(m).forward for m in modules] or [self._orig_mod]):
            facts[f"outside[{i}]"] = outside(function)
        return [f"{name} == {value!r}" for name, value in facts.items()]

    def tensors(self, args):  # those that become the inputs of a CompiledFunction
        return [*self.parameters(), *(arg for arg in args if isinstance(arg, Tensor))]

    def forward(self, *args):
        found, failed = self.guards(args), []
        for guards, compiled in self.cache_entries:
            failed = [guard for guard in guards if guard not in found]
            if not failed:
                return compiled(self.tensors(args))
        self.recompiles += failed[:1]  # of the last entry
        compiled = self.trace(args)
        TORCH_CHECK(self.guards(args) == found, "toytorch compiles no change of what it guards", NotImplementedError)
        self.cache_entries.append((found, compiled))
        return compiled(self.tensors(args))

    def trace(self, args):
        """Puts fakes where the parameters are, runs the function once on fakes alone, and puts the parameters back."""
        args = [fake(arg) if isinstance(arg, Tensor) else arg for arg in args]
        fakes = {p: fake(p) for p in self.parameters()}
        swapped = [(module._parameters, dict(module._parameters)) for module in self.modules()]
        for current, originals in swapped:
            current.update({name: fakes[p] for name, p in originals.items()})
        try:
            return CompiledFunction(self._orig_mod, args, self.tensors(args))  # all of them fakes
        finally:
            for current, originals in swapped:
                current.update(originals)
