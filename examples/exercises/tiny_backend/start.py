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
    output is None. Raise NotImplementedError for a node whose target is no
    key of FORMULAS, or that has kwargs.
    """
    raise NotImplementedError("write source")


def compiler(module, inputs):
    """A function run(*tensors) that does what a GraphModule does.

    It calls the kernel of module.graph and returns a list of tensors, with
    None where the kernel returns None. The inputs here are fake: they have
    shapes and dtypes, and no numbers. Raise NotImplementedError if their
    shapes differ. All results have the shape and dtype of inputs[0].
    """
    raise NotImplementedError("write compiler")


def boxed(module, inputs):
    return make_boxed_func(compiler(module, inputs))


def example(x):
    return (2 - x).sin() * math.pi


if __name__ == "__main__":
    x = torch.linspace(0, 1, 5, requires_grad=True)
    backend = aot_autograd(fw_compiler=boxed)
    try:
        for f in (torch.compile(example, backend=backend), example):
            y = f(x)
            (slope,) = torch.autograd.grad(y.sum(), x)
            print("without backend:" if f is example else "with backend:")
            print(y.detach(), slope, sep="\n")
    except torch._dynamo.exc.BackendCompilerFailed as error:
        if not isinstance(error.inner_exception, NotImplementedError):
            raise
        missing = str(error.inner_exception).splitlines()[0]
        print("not written yet:", missing)
