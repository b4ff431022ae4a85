"""Which kernels a GPU runs, what a compiler makes of them, and which numbers come out: sections for the pages."""

import re
import textwrap

import gpu  # ends the program where there is no GPU, and so no Triton
import torch
import triton
import triton.language as tl
from gpu import MB, message, profiled, section
from torch import nn
from torch._inductor.utils import run_and_get_code


def tree(event, indent=""):
    """The event, the work that it queued for the GPU, and the operators inside it."""
    print(indent + event.name)
    for kernel in event.kernels:
        print(f"{indent}  GPU: {kernel.name[:56]}")
    for child in event.cpu_children:
        if child.name.startswith("aten::"):
            tree(child, indent + "  ")


with section("conv"):
    image, weight = torch.ones(1, 3, 8, 8, device="cuda"), torch.ones(4, 3, 3, 3, device="cuda")
    print("cuDNN", torch._C._cudnn.getRuntimeVersion())
    events, _ = profiled(nn.functional.conv2d, image, weight)
    tree(next(event for event in events if event.name == "aten::conv2d"))

with section("triton"):

    def f(x, b):
        return (x + b).sin() * 2

    _, (code,) = run_and_get_code(torch.compile(f), torch.ones(3, 64, device="cuda"), torch.ones(64, device="cuda"))
    print(re.search(r"@triton\.jit\n(.*?)''', ", code, re.S)[1].rstrip())


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    total = tl.load(x_ptr + at, mask=at < n) + tl.load(y_ptr + at, mask=at < n)
    tl.store(out_ptr + at, total, mask=at < n)


with section("inside"):

    @torch.library.triton_op("book::inside", mutates_args=())
    def inside(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        torch.library.wrap_triton(add_kernel)[(1,)](x, y, out, x.numel(), 64)
        return out

    @torch.library.custom_op("book::opaque", mutates_args=())
    def opaque(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        add_kernel[(1,)](x, y, out, x.numel(), 64)
        return out

    opaque.register_fake(lambda x, y: torch.empty_like(x))
    x, y = torch.ones(64, device="cuda"), torch.ones(64, device="cuda")
    calls = {"triton_op": lambda x, y: inside(x, y) * 2, "custom_op": lambda x, y: opaque(x, y) * 2}
    for name, call in calls.items():
        _, (code,) = run_and_get_code(torch.compile(call), x, y)
        print(f"{name}:", *dict.fromkeys(re.findall(r"torch\.ops\.book\.\w+|\w+_\d+(?=\.run\()", code)))

with section("launches"):
    torch.manual_seed(0)
    print("width mode             launches  kernels   time")
    for width, layers, samples in ((64, 32, 8), (4096, 2, 4096)):
        parts = [part for _ in range(layers) for part in (nn.Linear(width, width), nn.GELU())]
        model, x, taken = nn.Sequential(*parts).cuda(), torch.randn(samples, width, device="cuda"), {}
        for mode in ("eager", "default", "reduce-overhead"):
            torch.compiler.reset()
            called = model if mode == "eager" else torch.compile(model, mode=mode)
            with torch.no_grad():
                for _ in range(5):  # compiles, and records the CUDA graph
                    called(x)
                taken[mode], (events, kernels) = gpu.seconds(called, x), profiled(called, x)
            launches = sum(bool(re.match(r"cu\w*Launch", event.name)) for event in events)
            print(f"{width:5} {mode:16}{launches:9}{len(kernels):9}{taken[mode] / taken['eager']:7.0%}")

with section("overwritten"):
    torch.compiler.reset()
    doubled = torch.compile(lambda x: x * 2, mode="reduce-overhead")
    outputs = [doubled(torch.full((3,), float(n), device="cuda")) for n in range(1, 7)]
    for n, output in enumerate(outputs, 1):
        try:
            print(n, "* 2:", output.tolist())
        except RuntimeError as error:
            said = re.sub(r"Stack trace:.*(?=To prevent)", "", str(error), flags=re.S)
            print(textwrap.fill(f"{n} * 2: {said}", 76))
    outputs = [doubled(torch.full((3,), float(n), device="cuda")).clone() for n in range(1, 7)]
    print("cloned:", *(output[0].item() for output in outputs))

with section("optimizers"):
    print("         kernels   time")
    taken = {}
    for kind, chosen in (("for-loop", {"foreach": False}), ("foreach", {}), ("fused", {"fused": True})):
        parameters = [nn.Parameter(torch.ones(256, 256, device="cuda")) for _ in range(50)]
        for p in parameters:
            p.grad = torch.ones_like(p)
        optimizer = torch.optim.AdamW(parameters, **chosen)
        optimizer.step()
        taken[kind], (_, kernels) = gpu.seconds(optimizer.step), profiled(optimizer.step)
        print(f"{kind:9}{len(kernels):7}{taken[kind] / taken['for-loop']:7.0%}")

with section("chain"):

    def chain(x):
        return ((x + 1).sin() * 2).relu()

    compiled, x = torch.compile(chain), torch.ones(64 * MB, device="cuda")
    compiled(x)
    print(f"compiled: {gpu.seconds(compiled, x) / gpu.seconds(chain, x):.0%} of the time of eager")

with section("precision"):
    torch.manual_seed(0)
    a, b = (torch.randn(4096, 4096, device="cuda") for _ in range(2))
    exact = a.double() @ b.double()
    print("                    largest error   time")
    taken = []
    for name, dtype in (("highest", torch.float32), ("high", torch.float32), ("highest", torch.bfloat16)):
        torch.set_float32_matmul_precision(name)
        left, right = a.to(dtype), b.to(dtype)
        taken.append(gpu.seconds(torch.matmul, left, right))
        error = ((left @ right).double() - exact).abs().max()
        print(f"{str(dtype)[6:]:9} {name:10}{error:13.5f}{taken[-1] / taken[0]:7.0%}")
    torch.set_float32_matmul_precision("highest")

with section("sums"):
    torch.manual_seed(0)
    numbers, index = torch.randn(100_000, device="cuda"), torch.zeros(100_000, dtype=torch.int64, device="cuda")

    def results(call):
        return len({call().item() for _ in range(20)})

    def add():
        return torch.zeros(1, device="cuda").index_add_(0, index, numbers)

    print("20 times sum():     ", results(numbers.sum), "result")
    print("20 times index_add_:", results(add), "results")
    torch.use_deterministic_algorithms(True)
    print("the same, deterministic:", results(add), "result")
    message("numbers.histc()", numbers.histc)
    torch.use_deterministic_algorithms(False)
