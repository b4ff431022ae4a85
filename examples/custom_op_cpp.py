"""C++ gives an operator its loops, Python its shapes and gradient: with all three it passes opcheck, on either ABI."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

import torch
from torch.utils.cpp_extension import get_cxx_compiler, load_inline

missing = [tool for tool in (get_cxx_compiler().split()[0], "ninja", "nm") if not shutil.which(tool)]
if missing:
    print("skipped: this example compiles C++ and looks into it, and the PATH has no", " and no ".join(missing))
    sys.exit(77)  # the status by which test runners know a skip

# --8<-- [start:library]
LIBRARY = """
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

at::Tensor softsign(const at::Tensor& x) {
  TORCH_CHECK(x.scalar_type() == at::kDouble, "softsign takes float64, and was given ", x.scalar_type());
  at::Tensor a = x.contiguous(), out = at::empty_like(a);
  const double* from = a.const_data_ptr<double>();
  double* to = out.mutable_data_ptr<double>();
  for (int64_t i = 0; i < a.numel(); ++i) to[i] = from[i] / (1 + std::abs(from[i]));
  return out;
}

TORCH_LIBRARY(example, m) {
  m.def("softsign(Tensor x) -> Tensor");
  m.def("bare(Tensor x) -> Tensor");  // stays without what Python adds below
  m.impl("softsign", c10::DispatchKey::CPU, TORCH_FN(softsign));
  m.impl("bare", c10::DispatchKey::CPU, TORCH_FN(softsign));
}
"""
# --8<-- [end:library]

# --8<-- [start:stable]
STABLE = """
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <cmath>

torch::stable::Tensor softsign(const torch::stable::Tensor& x) {
  STD_TORCH_CHECK(x.scalar_type() == torch::headeronly::ScalarType::Double, "softsign takes float64");
  auto a = torch::stable::contiguous(x), out = torch::stable::empty_like(a);
  const double* from = a.const_data_ptr<double>();
  double* to = out.mutable_data_ptr<double>();
  for (int64_t i = 0; i < a.numel(); ++i) to[i] = from[i] / (1 + std::abs(from[i]));
  return out;
}

STABLE_TORCH_LIBRARY(example_stable, m) { m.def("softsign(Tensor x) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(example_stable, CPU, m) { m.impl("softsign", TORCH_BOX(&softsign)); }
"""
# --8<-- [end:stable]

scratch = tempfile.TemporaryDirectory()
os.environ.setdefault("TORCH_EXTENSIONS_DIR", scratch.name)  # set it yourself, and the next run need not compile


def build(name, source, *flags):
    """The path of the library, which is loaded: its operators are in torch.ops from now on."""
    name += "_" + re.sub(r"[^0-9a-z]", "_", torch.__version__)  # ninja takes no notice of another torch
    return load_inline(name, source, extra_cflags=[*flags], is_python_module=False, no_implicit_headers=True)


def cpp_names(library):
    """How many names of torch's C++ a library wants: each may change with the next release."""
    command = ["nm", "--dynamic", "--demangle", "--undefined-only", library]
    wanted = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return sum(bool(re.search(r"\b(at|c10|torch|caffe2)::", line)) for line in wanted)


# --8<-- [start:register]
def setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def backward(ctx, grad):
    return grad / (1 + ctx.saved_tensors[0].abs()) ** 2


# --8<-- [end:register]
# --8<-- [start:check]
target = "-DTORCH_TARGET_VERSION=0x020d000000000000"  # the oldest torch that shall load it: 2.13
wants = [cpp_names(build("example_op", LIBRARY)), cpp_names(build("example_op_stable", STABLE, target))]
print("C++ names of torch in the library:", "some;" if wants[0] else "none;", "in the stable one:", wants[1])

torch.manual_seed(0)
x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
for op in (torch.ops.example.softsign.default, torch.ops.example_stable.softsign.default):
    torch.library.register_fake(op, torch.empty_like)
    torch.library.register_autograd(op, backward, setup_context=setup)  # it dispatches on to the kernel in C++
    passed = torch.library.opcheck(op, (x,))
    print(op, "passes", *passed)
    assert torch.autograd.gradcheck(op, x) and torch.autograd.gradcheck(op, x.t())
    torch.testing.assert_close(op(x.t()), torch.nn.functional.softsign(x.t()))
    try:
        op(x.float())
    except RuntimeError as error:
        print("and says:", re.sub(r".*main\.cpp:\d+, ", "", str(error)))  # the stable ABI puts file and line first
    else:
        raise AssertionError("float32 was accepted")

bare = torch.library.opcheck(torch.ops.example.bare.default, (x.detach(),), raise_exception=False)
failed = [test for test, result in bare.items() if result != "SUCCESS"]
print("without fake and gradient fail", *failed)
# --8<-- [end:check]
assert wants[0] > 0 == wants[1] and len(passed) == 4
assert failed == ["test_faketensor", "test_aot_dispatch_dynamic"]
