"""Write an operator in C++, with its fake and its gradient."""

import torch
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

// x - by where x > by, x + by where x < -by, 0 between; NaN stays NaN.
// x is float32 or float64, of any strides. Refuse another dtype, and a
// negative by, with STD_TORCH_CHECK.
// The result is a new contiguous tensor of the same shape and dtype.
Tensor shrink(const Tensor& x, double by) {
  STD_TORCH_CHECK(false, "write shrink in CPP");
}

STABLE_TORCH_LIBRARY(exercise, m) {
  m.def("shrink(Tensor x, float by) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(exercise, CPU, m) {
  m.impl("shrink", TORCH_BOX(&shrink));
}
"""


def fake(x, by):
    """A tensor like the result: shape, strides, dtype. x has no data."""
    raise NotImplementedError("write fake")


def setup_context(ctx, inputs, output):
    """Called after shrink with inputs = (x, by): save for backward."""
    raise NotImplementedError("write setup_context")


def backward(ctx, grad):
    """Return the gradient of x, and None for by."""
    raise NotImplementedError("write backward")


def build():
    """Make torch.ops.exercise.shrink of all this. Nothing to do here."""
    if "write shrink" in CPP:
        raise NotImplementedError("write shrink in CPP")
    load_inline(
        "shrink",
        CPP,
        is_python_module=False,
        no_implicit_headers=True,
        # the stable ABI of torch 2.13
        extra_cflags=["-DTORCH_TARGET_VERSION=0x020d000000000000"],
    )
    name, setup = "exercise::shrink", setup_context
    torch.library.register_fake(name, fake)
    torch.library.register_autograd(name, backward, setup_context=setup)


if __name__ == "__main__":
    try:
        build()
        x = torch.tensor([-2, -1, 0.25, 0.5, 2], requires_grad=True)
        y = torch.ops.exercise.shrink(x, 0.5)
        y.sum().backward()
        print("result:  ", y.detach())
        print("gradient:", x.grad)
    except NotImplementedError as missing:
        print("not written yet:", missing)
