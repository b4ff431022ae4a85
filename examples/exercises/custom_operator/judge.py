"""Register the operator, and hold its kernel, fake and derivative against center, and against each other."""

import re

import torch
from check import Wrong, tensor
from torch.library import CustomOpDef, opcheck
from torch.testing._internal.optests import OpCheckError
from torch.utils._python_dispatch import TorchDispatchMode

NAME = "exercise::center"
MAKES_ONLY = re.compile("empty|new_empty|contiguous|clone|copy_|_?to|_to_copy|detach|view|alias|resolve_|lift_fresh")


def center(x, by):
    return (x - by * x.mean(dim=-1, keepdim=True)).contiguous()


IDEAS = {
    "You may have taken the mean of all elements. Each row, which is the last dimension, has a mean of its own: "
    "axis=-1, with keepdims=True.": lambda x, by: x - by * x.mean(),
    "You may have taken the mean along the first dimension. The last one is axis=-1.": lambda x, by: (
        x - by * x.mean(dim=0, keepdim=True)
    ),
    "You may have subtracted the whole mean; by is the part of it that is subtracted.": lambda x, by: (
        x - x.mean(dim=-1, keepdim=True)
    ),
}


def inputs():
    """Tensors of several strides and dtypes, with their names."""
    torch.manual_seed(0)
    x = torch.randn(4, 3)
    yield "a matrix", x
    yield "a transposed matrix", x.t()
    yield "every second column", torch.randn(4, 6)[:, ::2]
    yield "a tensor of three dimensions, permuted", torch.randn(2, 3, 4).permute(2, 0, 1)
    yield "float64", torch.randn(3, 5, dtype=torch.float64)


def near(a, b):
    scale = {"rtol": 1e-5, "atol": 1e-5} if b.dtype == torch.float32 else {"rtol": 1e-12, "atol": 1e-12}
    return a.shape == b.shape and torch.allclose(a.to(b.dtype), b, **scale)


def shown(x):
    """The first elements."""
    return " ".join(f"{value:.4f}" for value in x.flatten()[:4].tolist()) + " ..."


def said(x):
    return f"{x.dtype}, size {tuple(x.shape)}, strides {x.stride()}"


def called(op, x, by, name):
    """The result of a call, unless the operator refuses it."""
    try:
        return tensor(op(x, by))
    except RuntimeError as error:
        if "may not alias" not in str(error):
            raise
        raise Wrong(
            f"center({name}, {by}) returns x itself, or a view of it, and the operator refuses that. You may have "
            "saved the work where nothing changes. Which memory a result has must not depend on "
            "the data: return a copy."
        ) from None


def check_kernel(op):
    for name, x in inputs():
        for by in (0.5, 1.0, 0.0):
            before, expected = x.clone(), center(x, by)
            came = called(op, x, by, name)
            if not torch.equal(x, before):
                raise Wrong(
                    f"center({name}, {by}) wrote into x. x.numpy() shares memory with x, so an operation in place "
                    "on the array is one on the tensor. The schema says `Tensor x`, without `(a0!)`: autograd and "
                    "the compiler rely on that."
                )
            if not near(came, expected):
                ideas = [idea for idea, rival in IDEAS.items() if near(came, rival(x, by))]
                raise Wrong(
                    f"center({name}, {by})\n  gave      {shown(came)}\n  expected  "
                    f"{shown(expected)}\n{(ideas or [''])[0]}"
                )
            if came.dtype != x.dtype:
                raise Wrong(
                    f"center({name}, {by}) returns {came.dtype} for {x.dtype}. NumPy chooses the larger of two dtypes: "
                    "an array of float64 makes the result one as well."
                )
            if not came.is_contiguous():
                raise Wrong(
                    f"center({name}, {by}) has the strides {came.stride()}, which are not contiguous. NumPy keeps the "
                    "order of the memory of x. y.copy(order='C') makes it row by row."
                )
            came.fill_(7)
            if not torch.equal(x, before):
                raise Wrong(
                    f"center({name}, {by}) shares its memory with x: a write to the result changed x. "
                    "torch.from_numpy(x.numpy()) is the same memory in another storage, so the check of PyTorch does "
                    "not notice. Return a copy."
                )


class Operators(TorchDispatchMode):
    """Keeps the names of the operators that are called."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.add(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


def check_own_work(work):
    x = torch.ones(2, 3)
    with Operators() as seen:
        work.kernel(x, 0.5)
    if computed := sorted(name for name in seen.names if not MAKES_ONLY.match(name)):
        raise Wrong(
            f"the kernel has torch compute it: it called {', '.join(computed)}. PyTorch can look into such a "
            "function, so it would not need an operator. Here the kernel is to be NumPy."
        )


def check_fake(op):
    for name, x in inputs():
        real = op(x, 0.5)
        try:
            fake = tensor(op(x.to("meta"), 0.5))
        except RuntimeError as error:
            if "no fake impl" not in str(error):
                raise
            raise Wrong(
                "the operator has no fake implementation: a call without data says\n  "
                f"{str(error).split('. ')[0]}\ntorch.compile calls it on tensors without data. Register one."
            ) from None
        for what in ("dtype", "shape"):
            if getattr(real, what) != getattr(fake, what):
                raise Wrong(
                    f"for {name} the fake promises another {what} than the kernel gives:\n  fake    {said(fake)}\n"
                    f"  kernel  {said(real)}\nMake it from x, with x.new_empty."
                )
        if real.stride() != fake.stride():
            raise Wrong(
                f"for {name} the fake promises other strides than the kernel gives:\n  fake    {said(fake)}\n"
                f"  kernel  {said(real)}\ntorch.empty_like keeps the strides of x, and the kernel's result is "
                "contiguous. Compiled code would read it in the wrong order."
            )


def check_gradient(op):
    torch.manual_seed(1)
    x, grad = torch.randn(3, 5, dtype=torch.float64, requires_grad=True), torch.randn(3, 5, dtype=torch.float64)
    try:
        (came,) = torch.autograd.grad(op(x, 0.25), x, grad)
    except RuntimeError as error:
        if "no autograd formula" not in str(error):
            raise
        raise Wrong("the operator has no derivative: backward() raises. Register one.") from None
    (expected,) = torch.autograd.grad(center(x, 0.25), x, grad)
    ideas = {
        "You may have let the gradient pass. Each element of a row has moved the mean, and through it "
        "every other element: the mean of the gradient is subtracted as well.": grad,
        "You may have taken the mean as a constant with slope 1 - by. An element moves the mean by 1/n of "
        "what it moves itself, and so do its neighbors.": grad * 0.75,
        "You may have computed the gradient from x. It is the incoming gradient that is centered.": center(x, 0.25),
        "You may have subtracted the whole mean of the gradient, and not the part by.": center(grad, 1.0),
        "You may have taken the mean of all elements; each row has its own.": grad - 0.25 * grad.mean(),
        "You may have swapped the two parts: it is by that is subtracted, and not 1 - by.": center(grad, 0.75),
        "You may have added up the gradient of a row; the mean is the sum divided by its length.": center(grad, 1.25),
    }
    if not near(came, expected):
        found = [idea for idea, wrong in ideas.items() if near(came, wrong)]
        raise Wrong(
            f"the gradient of center(x, 0.25)\n  gave      {shown(came)}\n  expected  "
            f"{shown(expected)}\n{(found or [''])[0]}"
        )


def check_compiled(op):
    """A compiled forward and backward pass, against the same without compiling."""

    def loss(x):
        y = op(x * 2, 0.5)
        return (y * y).sum() / y.shape[0]

    x = torch.randn(3, 4, requires_grad=True)
    (expected,) = torch.autograd.grad(loss(x), x)
    torch.compiler.reset()
    try:
        (came,) = torch.autograd.grad(torch.compile(loss, backend="aot_eager", fullgraph=True)(x), x)
    except Exception as error:
        cause = re.search(r"(?:RuntimeError|AssertionError|TypeError): ?(.+)", str(error))
        raise Wrong(
            f"compiled, a loss with center in it fails:\n  {(cause[1] if cause else str(error))[:150]}\nThe compiler "
            "calls fake, setup and backward on tensors without data. You may have used NumPy in one of them: only "
            "the kernel may."
        ) from None
    if not near(came, expected):
        raise Wrong("the compiled gradient differs from the one without compiling")


def check_twice(op):
    x = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    if not torch.autograd.gradgradcheck(lambda x: op(x, 0.25), x, raise_exception=False):
        raise Wrong(
            "the gradient of the gradient is wrong, or cannot be computed. You may have detached grad in backward: "
            "compute with the grad that you are given, as it is."
        )


def check(work):
    op = work.register(NAME)
    if not isinstance(op, CustomOpDef):
        raise Wrong(f"register returned {type(op).__name__}; it has to return what torch.library.custom_op gives")
    if op._opoverload._schema.is_mutable:
        raise Wrong("the operator declares that it writes to x. It has to leave x alone, and mutates_args stays ().")
    check_kernel(op)
    check_own_work(work)
    check_fake(op)
    check_gradient(op)
    check_compiled(op)
    check_twice(op)
    for name, x in inputs():
        try:
            opcheck(op, (x.requires_grad_(), 0.5))
        except OpCheckError as error:
            raise Wrong(f"for {name}, torch.library.opcheck says: {error}") from None
