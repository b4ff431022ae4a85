"""A kernel written with Vectorized is SIMD only if the compiler is told so: the machine code of two builds shows it."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from torch.utils.cpp_extension import get_cxx_compiler, load_inline

missing = [tool for tool in (get_cxx_compiler().split()[0], "ninja") if not shutil.which(tool)]
if missing:
    print("skipped: this example compiles C++, and the PATH has no", " and no ".join(missing))
    sys.exit(77)  # the status by which test runners know a skip

# --8<-- [start:kernel]
KERNEL = """
#include <ATen/TensorIterator.h>
#include <ATen/native/cpu/Loops.h>
#include <torch/library.h>

using at::vec::Vectorized;

at::Tensor square(const at::Tensor& x) {
  TORCH_CHECK(x.scalar_type() == at::kFloat,
              "square takes float32, and was given ", x.scalar_type());
  at::Tensor out;  // undefined: the iterator makes it
  auto iterator = at::TensorIterator::unary_op(out, x);
  at::native::cpu_kernel_vec(
      iterator,
      [](float a) { return a * a; },
      [](Vectorized<float> a) { return a * a; });
  return iterator.output();
}

TORCH_LIBRARY(NAME, m) {
  m.def("square(Tensor x) -> Tensor");
  m.impl("square", c10::DispatchKey::CPU, TORCH_FN(square));
}
"""
# --8<-- [end:kernel]

# --8<-- [start:flags]
# Two flags let the compiler use AVX2, two make `Vectorized<float>` eight floats in one register.
AVX2 = ["-mavx2", "-mfma", "-DCPU_CAPABILITY=AVX2", "-DCPU_CAPABILITY_AVX2"]
FLAGS = {"example_plain": [], "example_simd": ["-O3", *AVX2]}


def build(name):
    """The path of the library, which is loaded: its operator is torch.ops.NAME.square."""
    return load_inline(
        f"{name}_{re.sub(r'[^0-9a-z]', '_', torch.__version__)}",  # ninja takes no notice of another torch
        KERNEL.replace("NAME", name),
        extra_cflags=FLAGS[name],
        is_python_module=False,
        no_implicit_headers=True,
    )


# --8<-- [end:flags]
# --8<-- [start:proof]
def multiplies_eight(library):
    """Does the machine code multiply 256-bit registers of eight floats?"""
    if shutil.which("objdump"):
        shown = subprocess.run(["objdump", "-d", library], capture_output=True, text=True, check=True)
        return bool(re.search(r"\bvmulps .*%ymm", shown.stdout))
    # Without objdump: `vmulps %ymm0,%ymm0,%ymm0` is C5 FC 59 C0; with register n it is C5, FC - 8n, 59, C0 + 9n.
    return any(bytes([0xC5, 0xFC - 8 * n, 0x59, 0xC0 + 9 * n]) in Path(library).read_bytes() for n in range(8))


# --8<-- [end:proof]
def check(square):
    """Compares with torch.square, bit by bit and stride by stride."""
    torch.manual_seed(0)
    x = torch.randn(37, 101)
    views = [x, x.t(), x[:, ::2], x[1:, 3:], x[:, :1].expand(37, 8), x[0, 0], x[:0], x.flip(0), torch.randn(2, 3, 5, 7)]
    for view in [*views, views[-1].to(memory_format=torch.channels_last)]:
        mine, theirs = square(view), torch.square(view)
        assert torch.equal(mine, theirs) and mine.stride() == theirs.stride()
    return len(views) + 1


scratch = tempfile.TemporaryDirectory()
os.environ.setdefault("TORCH_EXTENSIONS_DIR", scratch.name)  # set it yourself, and the next run need not compile

# ATEN_CPU_CAPABILITY=default makes torch, and so this example, act as on a processor without AVX2.
if torch.backends.cpu.get_cpu_capability() not in ("AVX2", "AVX512"):
    build("example_plain")
    layouts = check(torch.ops.example_plain.square)
    print(f"skipped: no AVX2 on this machine; the portable build squares {layouts} layouts as torch does")
    sys.exit(77)

# --8<-- [start:compare]
with ThreadPoolExecutor() as pool:
    libraries = dict(zip(FLAGS, pool.map(build, FLAGS)))

simd = {name: multiplies_eight(library) for name, library in libraries.items()}
for name, flags in FLAGS.items():
    print("flags:", " ".join(flags) or "none, as load_inline has it")
    print("  vmulps on 256-bit registers:", "yes" if simd[name] else "no")

for name in FLAGS:
    layouts = check(getattr(torch.ops, name).square)
print(f"both square {layouts} layouts as torch does")

refused = 0
for dtype in (torch.float64, torch.int64, torch.bool, torch.complex64):
    try:
        torch.ops.example_simd.square(torch.ones(3, dtype=dtype))
    except RuntimeError as error:
        print(error)
        refused += 1
# --8<-- [end:compare]
assert simd == {"example_plain": False, "example_simd": True}
assert refused == 4
