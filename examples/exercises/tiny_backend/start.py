"""Write a backend for torch.compile: a graph becomes one Python loop."""

import math

import torch
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd

aten = torch.ops.aten
FORMULAS = {
    aten.add.Tensor: "({0} + {1})",
    aten.sub.Tensor: "({0} - {1})",
    aten.rsub.Scalar: "({1} - {0})",
    aten.mul.Tensor: "({0} * {1})",
    aten.div.Tensor: "({0} / {1})",
    aten.neg.default: "(-{0})",
    aten.sin.default: "math.sin({0})",
    aten.cos.default: "math.cos({0})",
    aten.exp.default: "math.exp({0})",
    aten.relu.default: "max({0}, 0.0)",
    aten.threshold_backward.default: "({0} if {1} > {2} else 0.0)",
    aten.detach.default: "{0}",
}


def source(graph):
    """The text of a function `kernel` that computes a torch.fx.Graph.

    The kernel is plain Python with math and has a single loop. It takes one
    list of numbers for each placeholder, all of one length. It returns a
    list that has for each output a list of numbers, or None where the
    output is None. Raise NotImplementedError for a node whose operator has
    no formula, or that has keyword arguments.
    """
    raise NotImplementedError("write source")


def compiler(module, inputs):
    """A function of tensors that does what a torch.fx.GraphModule does.

    It calls the kernel of the module's graph. The inputs here are fake:
    they have shapes and dtypes, and no numbers. All have one shape and one
    dtype, and so have the results. Raise NotImplementedError where the
    shapes differ.
    """
    raise NotImplementedError("write compiler")


def boxed(module, inputs):
    return make_boxed_func(compiler(module, inputs))


if __name__ == "__main__":
    x = torch.linspace(0, 1, 5, requires_grad=True)
    backend = aot_autograd(fw_compiler=boxed)
    f = torch.compile(lambda x: (2 - x).sin() * math.pi, backend=backend)
    try:
        y = f(x)
        y.sum().backward()
        print(y, x.grad, sep="\n")
    except torch._dynamo.exc.BackendCompilerFailed as error:
        missing = str(error.inner_exception).splitlines()[0]
        print("not written yet:", missing)
