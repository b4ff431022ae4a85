"""Trace forward and backward together, on tensors without data (torch/_functorch/aot_autograd.py)."""

from . import storage
from ._inductor import generate, key, load
from ._tensor import Tensor
from .autograd import grad
from .dispatch import Operator, key_set, tls
from .factories import empty
from .function import Node, SavedVariable
from .variable import GradMode

Operator.fallbacks["Python"] = lambda op, keys, *args: tls.modes[-1].__torch_dispatch__(op, args)


class Unsupported(Exception):
    """What a trace cannot hold; the function then runs as it is (a graph break)."""


class ProxyMode:
    """While it is on, operators below autograd are recorded and run on fake tensors, which are on meta and have no data
    (torch/fx/experimental/proxy_tensor.py)."""

    def __init__(self, inputs):
        self.inputs, self.names, self.fakes, self.nodes = [], {}, {}, []
        for x in inputs:
            self.fake(x)

    def __enter__(self):
        tls.modes.append(self)
        tls.included |= key_set("Python")

    def __exit__(self, *error):
        tls.modes.pop()
        tls.included -= key_set("Python")

    def name(self, x):
        self.names.setdefault(key(x), f"t{len(self.names)}")
        return x

    def fake(self, x):
        """The fake of a tensor. A real one that was never seen is an input."""
        if key(x) in self.names:
            return x
        if key(x) not in self.fakes:
            self.inputs.append(x)
            memory = storage.UntypedStorage(x.storage.nbytes(), "meta")
            self.fakes[key(x)] = self.name(Tensor(memory, x.dtype, x.shape, x.strides, x.offset))
        return self.fakes[key(x)]

    def __torch_dispatch__(self, op, args):
        if op.name.endswith("_"):
            raise Unsupported(f"{op.name} writes to a tensor")
        args = [self.fake(arg) if isinstance(arg, Tensor) else arg for arg in args]
        backend = "Meta" if any(isinstance(arg, Tensor) for arg in args) else "BackendSelect"
        out = op.redispatch(key_set(backend), *("meta" if str(arg) == "cpu" else arg for arg in args))
        if key(out) not in self.names:
            args = ["cpu" if str(arg) == "meta" else arg for arg in args]
            self.nodes.append((self.name(out), op.name.removeprefix("aten::"), args))
        return out


class CompiledFunctionBackward(Node):
    def apply(self, grad):
        grads = iter(self.program(*(saved.unpack(self) for saved in self.saved.values()), grad))
        return [next(grads) if i in self.followed else None for i in range(len(self.next_functions))]


class CompiledFunction:
    """A trace as two programs; forward also returns what backward needs."""

    def __init__(self, function, inputs):
        mode, saved, tangents, grads, self.followed = ProxyMode(inputs), [], [], [], []
        with mode:
            out = function()
            if not isinstance(out, Tensor):
                raise Unsupported("toytorch compiles functions that return one tensor")
            forward = len(mode.nodes)
            if out.requires_grad:
                self.followed = [i for i, x in enumerate(mode.inputs) if x.requires_grad]
                tangents = [mode.name(empty(out.shape, out.dtype, "meta"))]
                grads = grad(out, [mode.inputs[i] for i in self.followed], tangents, allow_unused=True)
        self.inputs, fakes = mode.inputs, [mode.fake(x) for x in mode.inputs]
        used = [x for _, _, args in mode.nodes[forward:] for x in args if isinstance(x, Tensor)]
        made = {key(x) for x in fakes} | {key(x) for x, _, _ in mode.nodes[:forward]}
        saved = list({key(x): x for x in used if key(x) in made}.values())
        self.code = generate(mode, mode.nodes[:forward], fakes, [mode.fake(out), *saved])
        self.backward_code = generate(mode, mode.nodes[forward:], saved + tangents, grads)
        self.forward, self.backward = load(self.code), load(self.backward_code)

    def __call__(self, inputs):
        inputs = [*inputs, *self.inputs[len(inputs) :]]
        with GradMode(False):
            out, *saved = self.forward(*inputs)
        if GradMode.enabled and self.followed:
            node = CompiledFunctionBackward("CompiledFunctionBackward", inputs, [out])
            node.saved = {i: SavedVariable(x, x is out) for i, x in enumerate(saved)}
            node.program, node.followed, out._grad_fn = self.backward, self.followed, node
        return out
