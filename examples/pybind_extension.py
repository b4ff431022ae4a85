"""A C++ function bound with pybind11 is no operator: torch sees the operators it calls, and none of its own loops."""

import os
import re
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.cpp_extension import get_cxx_compiler, load_inline

missing = [tool for tool in (get_cxx_compiler().split()[0], "ninja") if not shutil.which(tool)]
if missing:
    print("skipped: this example compiles C++, and the PATH has no", " and no ".join(missing))
    sys.exit(77)  # the status by which test runners know a skip
if not Path(sysconfig.get_path("include"), "Python.h").exists():
    print("skipped: this Python came without its headers (on Debian they are in python3-dev)")
    sys.exit(77)

# --8<-- [start:source]
SOURCE = """
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/utils/pybind.h>

at::Tensor composed(const at::Tensor& x) {
  return x / (x.abs() + 1);
}

at::Tensor looped(const at::Tensor& x) {
  TORCH_CHECK(x.scalar_type() == at::kDouble, "looped takes float64, and was given ", x.scalar_type());
  TORCH_CHECK_VALUE(x.is_contiguous(), "looped takes contiguous tensors, and the strides are ", x.strides());
  at::Tensor out = at::empty_like(x);
  const double* from = x.const_data_ptr<double>();
  double* to = out.mutable_data_ptr<double>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = from[i] / (1 + std::abs(from[i]));
  return out;
}

void doubled(const at::Tensor& x) {  // in place, without a copy: the memory is Python's tensor's
  TORCH_CHECK(x.scalar_type() == at::kDouble && x.is_contiguous(), "doubled takes contiguous float64");
  double* to = x.mutable_data_ptr<double>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] *= 2;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("composed", &composed, py::arg("x"));
  m.def("looped", &looped, py::arg("x"));
  m.def("doubled", &doubled, py::arg("x"));
}
"""
# --8<-- [end:source]

scratch = tempfile.TemporaryDirectory()
os.environ.setdefault("TORCH_EXTENSIONS_DIR", scratch.name)  # set it yourself, and the next run need not compile
release = re.sub(r"[^0-9a-z]", "_", f"{sys.version_info.minor}_{torch.__version__}")  # ninja takes no notice of these
extension = load_inline(f"example_pybind_{release}", SOURCE, no_implicit_headers=True)


# --8<-- [start:seen]
class Names(TorchDispatchMode):
    """Keeps the names of the operators that reach the dispatcher."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        self.names.append(op.overloadpacket.__name__)
        return op(*args, **(kwargs or {}))


torch.manual_seed(0)
x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
seen, results = {}, {}
for function in (extension.composed, extension.looped):
    name = function.__name__
    with Names() as mode:
        results[name] = y = function(x)
    seen[name] = mode.names
    print(f"{name}: torch sees {', '.join(mode.names)}; made by {y.grad_fn and y.grad_fn.name()}")
# --8<-- [end:seen]

# --8<-- [start:errors]
for wrong in (x.float(), x.t(), torch.empty(3, 4, dtype=torch.float64, device="meta"), [1.0]):
    try:
        extension.looped(wrong)
    except (RuntimeError, TypeError, ValueError) as error:
        print(f"{type(error).__name__}: {str(error).splitlines()[0]}")
    else:
        raise AssertionError("looped accepted a wrong argument")
# --8<-- [end:errors]

# --8<-- [start:version]
w = torch.ones(3, dtype=torch.float64, requires_grad=True)
a = torch.full((3,), 5.0, dtype=torch.float64)
product = (w * a).sum()  # saves a, whose version is 0
extension.doubled(a)
product.backward()
print("written in C++: version", a._version, "so that the gradient of 5 * w is taken for", w.grad.tolist())
# --8<-- [end:version]

assert seen == {"composed": ["abs", "add", "div"], "looped": ["empty_like"]}
for y in results.values():
    torch.testing.assert_close(y.detach(), torch.nn.functional.softsign(x.detach()))
(grad,) = torch.autograd.grad(results["composed"].sum(), x)
torch.testing.assert_close(grad, 1 / (1 + x.detach().abs()) ** 2)
assert results["looped"].grad_fn is None and not results["looped"].requires_grad
assert a._version == 0 and w.grad.tolist() == [10.0] * 3
