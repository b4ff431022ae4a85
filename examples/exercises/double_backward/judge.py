"""Compare a custom Function with its formulas: values, slopes, what it keeps, and the derivative of its backward."""

import contextlib
from pathlib import Path

import torch
from check import Wrong, calls, tensor


def bump(x, width):
    return torch.exp(-((x / width) ** 2))


def slope(x, width):
    return -2 * x / width**2 * bump(x, width)


def curvature(x, width):
    return (4 * x**2 / width**4 - 2 / width**2) * bump(x, width)


def numbers(x):
    return ", ".join(f"{float(value):.4f}" for value in x.detach().flatten()[:4])


def same(a, b):
    return a is not None and a.shape == b.shape and torch.allclose(a, b, rtol=1e-6, atol=1e-9)


def compare(what, came, expected, ideas):
    """Raise Wrong when a tensor is not the expected one; `ideas` maps explanations to what they would give."""
    if same(tensor(came), expected):
        return
    shown = numbers(came) if came.shape == expected.shape else repr(came)
    said = next((idea for idea, rival in ideas.items() if same(came, rival)), "")
    raise Wrong(f"{what}\n  gave      {shown}\n  expected  {numbers(expected)}\n{said}".rstrip())


@contextlib.contextmanager
def by_hand():
    """Raise Wrong when a backward pass starts another one; the check's own call is the first."""
    started = []

    def seen(file, name):
        if Path(file).parent.name == "autograd" and name in ("grad", "backward", "vjp", "jvp"):
            started.append(name)
        if len(started) > 1:
            raise Wrong(
                "You may have called autograd inside backward. That works, but backward asks autograd for the "
                "derivative that you are to write. Multiply grad by the derivative of exp(-(x / width) ** 2), in "
                "terms of x, width and y."
            )

    with calls(seen):
        yield


@contextlib.contextmanager
def complaints():
    """Explain what torch says about a Function."""
    try:
        yield
    except RuntimeError as error:
        if "incorrect number of gradients" in str(error):
            raise Wrong(
                f"torch says: {error}\nbackward returns one gradient for each input of forward, in their order, and "
                "width is one of them. It is no tensor, so its place takes None."
            ) from None
        if "once_differentiable" in str(error):
            raise Wrong(
                f"torch says: {error}\nYou may have added the decorator once_differentiable. It keeps autograd out "
                "of backward. Without it, autograd records the operations of backward like any others."
            ) from None
        raise


def gradient(y, x, grad, **how):
    with complaints(), by_hand():
        (found,) = torch.autograd.grad(y, x, grad, **how)
    return found


def check_forward(apply, x, width):
    before = x.detach().clone()
    y = apply(x, width)
    ideas = {
        "You may have left out the width. x is not divided by it.": bump(before, 1),
        "You may have thought of the bell curve. Your forward divides by twice the square of the width, as the "
        "normal distribution does.": bump(before, width * 2**0.5),
        "You may have squared x alone. The quotient x / width is squared as a whole.": torch.exp(-(before**2) / width),
        "You may have lost the minus of the exponent.": 1 / bump(before, width),
    }
    compare(f"Bump.apply(x, {width}) for x = {numbers(before)}", y, bump(before, width), ideas)
    if not torch.equal(before, x):
        raise Wrong("forward has written into x, which belongs to the caller")
    if not y.requires_grad:
        raise Wrong("Bump.apply(x, width) does not require grad although x does. Look for what cut it from the graph.")


def check_backward(apply, x, width):
    grad, z = torch.randn_like(x), x.detach()
    came = gradient(apply(x, width), x, grad)
    right = slope(z, width)
    ideas = {
        "You may have returned the derivative itself. The incoming gradient does not appear in your answer. "
        "backward gets the gradient of the loss by y; multiply by it.": right,
        "You may have stopped at the outer function. The inner derivative is missing: that of (x / width) ** 2 is 2 "
        "* x / width ** 2.": grad * bump(z, width),
        "You may have divided by width once. One division is missing, because each of the two factors x / width "
        "brings its own.": grad * right * width,
        "You may have differentiated exp(-x ** 2) and put in x / width. The slope of x / width is missing: divide "
        "by the width once more.": grad * right * width**2,
        "You may have lost a minus. The sign is wrong: the minus of the exponent, -(x / width) ** 2, stays in front "
        "of its derivative.": -grad * right,
        "You may have forgotten the factor 2 of the square.": grad * right / 2,
    }
    compare(f"The gradient of x = {numbers(z)} from grad = {numbers(grad)}", came, grad * right, ideas)


def check_two_calls(apply, x, width):
    z, grad = x.detach(), torch.ones_like(x)
    first, second = apply(x, width), apply(x, width + 1)
    came = [gradient(y, x, grad) for y in (first, second)]
    for mine, by in zip(came, (width, width + 1)):
        if not same(mine, slope(z, by)):
            raise Wrong(
                f"Bump was applied twice, with the widths {width} and {width + 1}, before any backward. Then the "
                f"gradient for the width {by} is that of another width. You may have kept something on the class, or "
                "outside of it, where the next call overwrites it. Each call has a ctx of its own; keep it there."
            )


def check_saved(apply, x, width):
    y = apply(x, width)
    kept = [name for name, value in vars(y.grad_fn).items() if isinstance(value, torch.Tensor)]
    if kept:
        raise Wrong(
            f"forward keeps a tensor as ctx.{kept[0]}, past save_for_backward. You may have thought that both are "
            "the same. But autograd does not check an attribute: if the tensor is overwritten before backward, the "
            "gradient is wrong without an error. After save_for_backward there is an error. And hooks on saved "
            "tensors never see an attribute."
        )


def check_connected(apply, x, width):
    y = apply(x, width)
    saved = y.grad_fn.saved_tensors
    came = gradient(y, x, torch.ones_like(y), create_graph=True)
    if came.requires_grad:
        return
    z = x.detach()
    if any(same(tensor, factor * slope(z, width)) for tensor in saved for factor in (1, -1)):
        raise Wrong(
            "You may have thought that what is computed in forward can be differentiated later. The slope was "
            "computed in forward and saved. In forward autograd records nothing, so in backward the slope has no "
            "history, and grad * slope has no derivative by x. Save x and y, and compute the slope in backward."
        )
    came = gradient(apply(x, width), x, torch.ones_like(y).requires_grad_(), create_graph=True)
    if came.requires_grad:
        with complaints():
            came.sum().backward()
    raise Wrong(
        "The gradient of x, asked for with create_graph=True, requires no gradient: while backward ran, autograd "
        "recorded nothing. Look for no_grad, .detach(), .data or .item() between the saved tensors and the result."
    )


def check_curvature(apply, x, width):
    y = apply(x, width)
    first = gradient(y, x, torch.ones_like(y), create_graph=True)
    came = gradient(first, x, torch.ones_like(first), allow_unused=True)
    z = x.detach()
    ideas = {
        "You may have saved y without its history. In the slope, -2 * x / width ** 2 * y, the factor y counts as a "
        "constant, but y depends on x too. y is an output of forward, so save it with save_for_backward: then "
        "ctx.saved_tensors returns it with its history.": -2 / width**2 * bump(z, width),
        "You may have saved something that forward computed from x. In the slope, -2 * x / width ** 2 * y, the x in "
        "front counts as a constant. What forward computes on the way to y has no history; save x itself.": 4
        * z**2
        / width**4
        * bump(z, width),
    }
    what = f"The second derivative for x = {numbers(z)}"
    compare(what, torch.zeros_like(z) if came is None else came, curvature(z, width), ideas)


def check_grad_of_grad(apply, x, width):
    grad, v = torch.randn_like(x).requires_grad_(), torch.randn_like(x)
    first = gradient(apply(x, width), x, grad, create_graph=True)
    came = gradient(first, grad, v, allow_unused=True)
    if came is None or not same(came, v * slope(x.detach(), width)):
        raise Wrong(
            "You may have detached grad. The gradient that backward returns is right, but it does not depend on grad "
            "as autograd sees it. grad has a history of its own where the loss is more than a sum of y, so the second "
            "derivative flows through grad too."
        )


PARTS = (
    check_forward,
    check_backward,
    check_two_calls,
    check_saved,
    check_connected,
    check_curvature,
    check_grad_of_grad,
)


def check(work):
    if not (isinstance(work.Bump, type) and issubclass(work.Bump, torch.autograd.Function)):
        raise Wrong(
            "Bump is no torch.autograd.Function. You may have written it with torch's operations, and then autograd "
            "makes its backward. In this exercise the backward is yours."
        )
    torch.manual_seed(0)
    for width in (1.5, 0.7):
        x = torch.randn(2, 5, dtype=torch.float64).requires_grad_()
        for part in PARTS:
            part(work.Bump.apply, x, width)
    torch.autograd.gradcheck(work.Bump.apply, (x, 1.2))
    torch.autograd.gradgradcheck(work.Bump.apply, (x, 1.2))
