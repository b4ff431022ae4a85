"""Build the operator, and hold it against softshrink: results, refusals, aliasing, its fake and its gradient."""

import hashlib
import itertools
import math
import os
import re
import shutil
from pathlib import Path

import torch
from check import Wrong, tensor
from torch.autograd.profiler import profile
from torch.nn.functional import softshrink
from torch.utils import cpp_extension

MAKES_ONLY = re.compile("aten::(empty|new_empty|resize|contiguous|clone|copy|reshape|view|_?to|detach|as_strided)")


def built(work):
    """Build the extension, and return the operator."""
    compiler = cpp_extension.get_cxx_compiler()
    for tool in (compiler, "ninja"):
        if not shutil.which(tool):
            raise Wrong(
                f"there is no `{tool}` on this machine, so nothing can be compiled. A C++ compiler comes with the "
                "package g++ (or set CXX), and `pip install ninja` brings ninja."
            )
    key = hashlib.sha256(Path(work.__file__).read_bytes()).hexdigest()[:12]
    root = os.environ.get("TORCH_EXTENSIONS_DIR") or cpp_extension.get_default_build_root()
    os.environ["TORCH_EXTENSIONS_DIR"] = os.path.join(root, f"exercise-{key}")  # nobody else's build, and kept
    try:
        work.build()
    except RuntimeError as error:
        refused = re.search(r"error: (.+)\n +\d+ \| +(.+)", str(error))
        if not refused:
            raise
        raise Wrong(f"the C++ compiler refuses `{refused[2]}`: {refused[1]}") from None
    if not hasattr(torch.ops.exercise, "shrink"):
        raise Wrong("after build() there is no operator exercise::shrink; CPP has to define it with m.def")
    table = torch._C._dispatch_dump_table("exercise::shrink")
    place = re.search("^CPU: registered at (.+?):", table, re.M)
    if not place or not place[1].endswith(".cpp"):
        raise Wrong(
            f"the CPU kernel of exercise::shrink is a function of Python{'' if place else ', or nothing'}. The "
            "kernel is to be C++, registered with STABLE_TORCH_LIBRARY_IMPL."
        )
    return torch.ops.exercise.shrink


def inputs():
    """Tensors of all kinds of strides, with their names."""
    torch.manual_seed(0)
    x = torch.randn(4, 6)
    yield "a matrix", x
    yield "a transposed matrix", x.t()
    yield "every second column", x[:, ::2]
    yield "the last rows", x[2:]
    yield "a repeated row", x[0].expand(3, 6)
    yield "a tensor of three dimensions, permuted", torch.randn(2, 3, 4).permute(2, 0, 1)
    yield "a single number", x[1, 1]
    yield "no number at all", x[:0]
    yield "float64", torch.randn(3, 3, dtype=torch.float64) / 3
    yield "infinities and NaN", torch.tensor([math.inf, -math.inf, math.nan, 0.3])


def soft(x, by):
    return torch.where(x.isnan(), x, softshrink(x, by))


def in_memory(x, by):
    """As soft, of the elements that lie one after another from the first on."""
    elements = x.as_strided((x.numel(),), (1,))
    return soft(elements, by).view(x.shape)


IDEAS = {
    "You may have assumed that x is contiguous. Your loop walks the memory of x, one element after another. With "
    "other strides an element lies elsewhere: at the sum of each index times its stride.": in_memory,
    "You may have forgotten NaN. NaN is neither greater nor smaller than anything, so it fell between the two "
    "comparisons and became 0. A NaN that vanishes hides an earlier mistake.": softshrink,
    "You may have thought of hard shrinking, which keeps what is beyond by as it is. Here every number moves "
    "towards 0 by the same step.": torch.nn.functional.hardshrink,
    "You may have subtracted the step on both sides. A negative number has to go up.": lambda x, by: torch.where(
        x.abs() > by, x - by, soft(x, by)
    ),
    "You may have written the loop for float32 only. The numbers went through float32 on their way.": lambda x, by: (
        soft(x.float(), by).to(x.dtype)
    ),
}


def same(a, b):
    """Whether the one is the other but for the last rounding."""
    near = {"rtol": 16 * torch.finfo(b.dtype).eps, "atol": torch.finfo(b.dtype).eps, "equal_nan": True}
    return a.dtype == b.dtype and a.shape == b.shape and torch.allclose(a, b, **near)


def first_difference(x, came, expected):
    """One element of x, what became of it, and what should have."""
    if came.shape != expected.shape or came.dtype != expected.dtype:
        return f"  gave      {came.dtype}, {tuple(came.shape)}\n  expected  {expected.dtype}, {tuple(expected.shape)}"
    for at in itertools.product(*map(range, x.shape)):
        if not same(came[at], expected[at]):
            return f"  of        {x[at]:.8g} at {at}\n  gave      {came[at]:.8g}\n  expected  {expected[at]:.8g}"
    return ""


def rival(idea, x, by):
    found = IDEAS[idea](x, by)
    return torch.where(x.isnan(), 0.0, found) if IDEAS[idea] is softshrink else found


def check_results(shrink):
    for name, x in inputs():
        for by in (0.5, 0.0, 0.1):
            before, expected = x.clone(), soft(x, by)
            came = shrink(x, by)
            if not same(x, before):
                raise Wrong(
                    f"shrink wrote into {name}. Its schema says `Tensor x`, without `(a!)`: this promises that x is "
                    "not written to, and autograd and the compiler rely on it."
                )
            if not same(came, expected):
                ideas = [idea for idea in IDEAS if x.numel() > 1 and same(came, rival(idea, x, by))]
                raise Wrong(f"shrink({name}, {by})\n{first_difference(x, came, expected)}\n{(ideas or [''])[0]}")
            shared = came.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
            if shared and x.numel():
                raise Wrong(
                    f"shrink({name}, {by}) shares its memory with x. You may have returned x itself where nothing "
                    "changes. The schema promises a new tensor: otherwise a write into the result changes x, and "
                    "torch.compile assumes that it cannot."
                )
            if not came.is_contiguous():
                raise Wrong(f"shrink({name}, {by}) has the strides {came.stride()}, which are not contiguous")


def check_refusals(shrink):
    cases = {
        "a negative by": (torch.ones(3), -1.0),
        "a tensor of int64, whose bytes are no floats": (torch.ones(3, dtype=torch.int64), 0.5),
    }
    for what, arguments in cases.items():
        try:
            came = shrink(*arguments)
        except RuntimeError:
            continue
        raise Wrong(
            f"shrink does not refuse {what}: it gave {came.tolist()}. C++ checks nothing by itself. Write a check "
            "with a message of your own, STD_TORCH_CHECK(condition, ...)."
        )


def check_own_work(shrink):
    x = torch.ones(3)
    with profile() as seen:
        shrink(x, 0.5)
    called = [event.name for event in seen.function_events if event.name.startswith("aten::")]
    if computed := sorted({name for name in called if not MAKES_ONLY.match(name)}):
        raise Wrong(
            f"shrink lets torch's operators compute: while it ran, the profiler saw {', '.join(computed)}. torch may "
            "allocate the result; the loop over the elements has to be yours."
        )


def check_fake(work, shrink):
    for name, x in inputs():
        real, fake = shrink(x, 0.5), work.fake(x.to("meta"), 0.5)
        if tensor(fake).device.type != "meta":
            raise Wrong(f"given a meta tensor, fake returned {fake!r}; it has to return one, too: sizes without data")
        for what in ("dtype", "shape"):
            if getattr(real, what) != getattr(fake, what):
                raise Wrong(
                    f"for {name} the fake promises another {what} than shrink gives: {getattr(fake, what)}, not "
                    f"{getattr(real, what)}. Make it from x, with x.new_empty."
                )
        if real.stride() != fake.stride() and real.numel() > 1:
            raise Wrong(
                f"for {name} the fake promises other strides than shrink gives: {fake.stride()}, not "
                f"{real.stride()}. torch.compile would generate code for a layout that never comes. You may have "
                "used torch.empty_like, which keeps the strides of x; the kernel makes a contiguous tensor."
            )


def check_gradient(shrink):
    torch.manual_seed(1)
    x = torch.randn(3, 4, dtype=torch.float64)
    x[0, :2] = torch.tensor([0.5, -0.5])
    x = x.t().requires_grad_()
    grad = torch.randn_like(x)
    (came,) = torch.autograd.grad(shrink(x, 0.5), x, grad)
    (expected,) = torch.autograd.grad(softshrink(x, 0.5), x, grad)
    ideas = {
        "You may have let every gradient pass, as if the result were x plus a constant. Between -by and by the "
        "result is 0 whatever x is, so the gradient there is 0.": grad,
        "You may have compared with >=. The gradient passes at x = by and x = -by, but the result is 0 there, and "
        "softshrink has the slope 0. Compare with >.": grad * (x.abs() >= 0.5),
        "You may have multiplied by the sign of x. The slope is 1 on both sides.": expected * x.sign(),
        "You may have returned the slope itself. Multiply it by the incoming gradient.": (x.abs() > 0.5).double(),
    }
    if not torch.allclose(came, expected):
        found = [idea for idea, wrong in ideas.items() if torch.allclose(came, wrong)]
        raise Wrong(
            f"the gradient of shrink(x, 0.5), for an incoming gradient of random numbers\n"
            f"{first_difference(x, came, expected)}\n{(found or [''])[0]}"
        )


def check(work):
    shrink = built(work)
    check_own_work(shrink)
    check_results(shrink)
    check_refusals(shrink)
    check_fake(work, shrink)
    check_gradient(shrink)
    x = torch.randn(3, 4, requires_grad=True)
    try:
        torch.library.opcheck(shrink.default, (x, 0.5))
    except torch.testing._internal.optests.OpCheckError as error:
        raise Wrong(f"torch.library.opcheck, which tests an operator's promises, says: {error}") from None
