"""Compare functions with a forward and a backward of their own in toytorch with torch's autograd.Function."""

from check import Wrong, compare
from ladder.rungs import torch, toytorch, values

CASES = tuple((name, given) for name in ("Square", "Times") for given in ("both", "first", "none", "no_grad"))


def run(package, Function):  # noqa: N803
    """The result, the name of its node, the gradients of two inputs, and how often autograd was on in forward."""

    class Square(Function):
        @staticmethod
        def forward(ctx, x, y):
            recorded.append((x * 1.0).requires_grad)
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * x * 2.0, None

    class Times(Function):
        @staticmethod
        def forward(ctx, x, y):
            recorded.append((x * 1.0).requires_grad)
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, grad):
            x, y = ctx.saved_tensors
            return grad * y, grad * x

    recorded, functions = [], {"Square": Square, "Times": Times}

    def ask(name, given):
        recorded.clear()
        x = package.tensor([1.0, -3.0], requires_grad=given != "none")
        y = package.tensor([2.0, 5.0], requires_grad=given in ("both", "no_grad"))
        with package.no_grad() if given == "no_grad" else package.enable_grad():
            out = functions[name].apply(x, y)
        node = out.grad_fn and out.grad_fn.name()
        if node:
            (out * package.tensor([1.0, 10.0])).sum().backward()
        return values(out), node, values(x.grad), values(y.grad), tuple(recorded)

    ask.functions = functions
    return ask


def right(name, given):
    return run(torch, torch.autograd.Function)(name, given)


def rival(index, value):
    """The right answer with another value in one place."""

    def ask(*case):
        answer = list(right(*case))
        answer[index] = value(answer, *case)
        return tuple(answer)

    return ask


IDEAS = {
    "You may have recorded forward as well. The node takes the place of what autograd would record, so forward runs "
    "under no_grad; what it saves otherwise keeps a second graph alive.": rival(
        4, lambda answer, name, given: (given not in ("none", "no_grad"),)
    ),
    "You may have given the node another name. It is the name of the class with Backward behind it.": rival(
        1, lambda answer, name, given: answer[1] and f"{name}Backward0"
    ),
}


def attempt(call):
    """What an error says, or nothing."""
    try:
        call()
    except (RuntimeError, TypeError) as error:
        return str(error)


def half(Function):  # noqa: N803
    """The gradient that a function of one input gives, whose backward returns no tuple."""

    class Half(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 0.5

        @staticmethod
        def backward(ctx, grad):
            return grad * 0.5

    x = toytorch.tensor([1.0, -3.0], requires_grad=True)
    error = attempt((Half.apply(x) * toytorch.tensor([1.0, 2.0])).sum().backward)
    return error or values(x.grad)


def check(work):
    mine, x = run(toytorch, work.Function), toytorch.tensor([1.0, -3.0], requires_grad=True)
    with toytorch.no_grad():
        if mine.functions["Square"].apply(x, x).requires_grad:
            raise Wrong(
                "a result made under no_grad has a node. You may have asked the inputs only: tls.grad_mode decides too."
            )
    plain = toytorch.tensor([2.0, 5.0])
    if mine.functions["Square"].apply(plain, plain).requires_grad:
        raise Wrong(
            "a result has a node although no input requires a gradient. Such a node would keep tensors for nothing."
        )
    otherwise = "The answer is the result, its node's name, the gradients, and whether autograd was on in forward."
    compare("apply", CASES, mine, right, IDEAS, otherwise)
    if (came := half(work.Function)) != [0.5, 1.0]:
        raise Wrong(
            f"the gradient of x * 0.5 is {came}, and [0.5, 1.0] is expected. You may have taken what backward returns "
            "for a tuple. For one input it may be the gradient itself."
        )
    out = mine.functions["Square"].apply(x, plain).sum()
    out.backward()
    if attempt(out.backward) is None:
        raise Wrong(
            "a second backward passed. You may have kept the tensors in a place of your own: backward frees what is in "
            "self.saved, by node.release_variables(), and nothing else."
        )
    z = x * 1.0
    out = mine.functions["Square"].apply(z, plain).sum()
    z.mul_(2.0)
    if attempt(out.backward) is None:
        raise Wrong(
            "z was saved, then written to in place, and backward went on with the new elements. You may have handed "
            "out one.variable. Its unpack compares the version of the tensor with the one that was saved."
        )
