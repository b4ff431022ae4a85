"""One loop over the elements in their logical order, for two dtypes; a fake and a gradient that agree with it."""

import torch
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

template <typename T>
void loop(const Tensor& x, T by, Tensor& y) {
  const T* from = x.const_data_ptr<T>();
  T* to = y.mutable_data_ptr<T>();
  for (int64_t i = 0; i < x.numel(); i++) {
    int64_t rest = i, at = 0;
    for (int64_t d = x.dim() - 1; d >= 0; d--) {
      at += (rest % x.size(d)) * x.stride(d);
      rest /= x.size(d);
    }
    T value = from[at];
    if (value > by) to[i] = value - by;
    else if (value < -by) to[i] = value + by;
    else if (value != value) to[i] = value;  // NaN
    else to[i] = 0;
  }
}

Tensor shrink(const Tensor& x, double by) {
  STD_TORCH_CHECK(by >= 0, "shrink: by must not be negative, but is ", by);
  ScalarType dtype = x.scalar_type();
  STD_TORCH_CHECK(
      dtype == ScalarType::Float || dtype == ScalarType::Double, "shrink: x must be float32 or float64");
  Tensor y = torch::stable::new_empty(x, x.sizes());
  if (dtype == ScalarType::Float) loop<float>(x, by, y);
  else loop<double>(x, by, y);
  return y;
}

STABLE_TORCH_LIBRARY(exercise, m) { m.def("shrink(Tensor x, float by) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(exercise, CPU, m) { m.impl("shrink", TORCH_BOX(&shrink)); }
"""


def fake(x, by):
    return x.new_empty(x.shape)


def setup_context(ctx, inputs, output):
    x, by = inputs
    ctx.by = by
    ctx.save_for_backward(x)


def backward(ctx, grad):
    (x,) = ctx.saved_tensors
    return grad * (x.abs() > ctx.by), None


def build():
    flags = ["-DTORCH_TARGET_VERSION=0x020d000000000000"]  # the stable ABI of torch 2.13
    load_inline("shrink", CPP, is_python_module=False, no_implicit_headers=True, extra_cflags=flags)
    torch.library.register_fake("exercise::shrink", fake)
    torch.library.register_autograd("exercise::shrink", backward, setup_context=setup_context)
