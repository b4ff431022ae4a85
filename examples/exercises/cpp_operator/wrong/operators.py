# says: lets torch's operators compute
"""Calls operators of torch, through the dispatcher."""

import torch
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

Tensor shrink(const Tensor& x, double by) {
  STD_TORCH_CHECK(by >= 0, "shrink: by must not be negative, but is ", by);
  ScalarType dtype = x.scalar_type();
  STD_TORCH_CHECK(
      dtype == ScalarType::Float || dtype == ScalarType::Double, "shrink: x must be float32 or float64");
  Tensor y = torch::stable::new_empty(x, x.sizes());
  Tensor low = torch::stable::fill_(y, -by), high = torch::stable::fill_(torch::stable::new_empty(x, x.sizes()), by);
  std::array<StableIValue, 3> stack{
      torch::stable::detail::from(x),
      torch::stable::detail::from(std::optional<Tensor>(low)),
      torch::stable::detail::from(std::optional<Tensor>(high))};
  torch_call_dispatcher("aten::clamp", "Tensor", stack.data(), TORCH_ABI_VERSION);
  return torch::stable::subtract(x, torch::stable::detail::to<Tensor>(stack[0]));
}

STABLE_TORCH_LIBRARY(exercise, m) { m.def("shrink(Tensor x, float by) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(exercise, CPU, m) { m.impl("shrink", TORCH_BOX(&shrink)); }
"""


def fake(x, by):
    return x.new_empty(x.shape)


def setup_context(ctx, inputs, output):
    x, ctx.by = inputs
    ctx.save_for_backward(x)


def backward(ctx, grad):
    (x,) = ctx.saved_tensors
    return grad * (x.abs() > ctx.by), None


def build():
    flags = ["-DTORCH_TARGET_VERSION=0x020d000000000000"]  # the stable ABI of torch 2.13
    load_inline("shrink", CPP, is_python_module=False, no_implicit_headers=True, extra_cflags=flags)
    torch.library.register_fake("exercise::shrink", fake)
    torch.library.register_autograd("exercise::shrink", backward, setup_context=setup_context)
