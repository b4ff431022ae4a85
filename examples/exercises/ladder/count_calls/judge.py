"""Compare the calls that were counted with those that reach Operator.__call__, through which Python calls operators."""

from collections import Counter
from contextlib import contextmanager

from check import Wrong, compare
from ladder.rungs import toytorch

Operator = toytorch.dispatch.Operator
PROGRAMS = {
    "x.exp().sum()": lambda x: x.exp().sum(),
    "x.exp().exp().exp()": lambda x: x.exp().exp().exp(),
    "torch.ones(2) + x": lambda x: toytorch.ones(2) + x,
    "y.matmul(y)": lambda x: toytorch.ones(2, 2).matmul(toytorch.ones(2, 2)),
    "x.exp().sum().backward()": lambda x: x.exp().sum().backward(),
    "x.exp(), and an error": lambda x: (x.exp(), {}["error"]),
    "x.detach().exp_()": lambda x: x.detach().exp_(),
}


@contextmanager
def wrapped(seen):
    """Counts in another way: __call__ is replaced."""
    call = Operator.__call__

    def counted(op, *args, **kwargs):
        seen[op.name] += 1
        return call(op, *args, **kwargs)

    Operator.__call__ = counted
    try:
        yield seen
    finally:
        Operator.__call__ = call


def run(counting):
    """The calls that a program makes while they are counted, by name; another call comes after them."""

    def run(program):
        x = toytorch.tensor([1.0, 2.0], requires_grad=True)
        try:
            with counting() as seen:
                PROGRAMS[program](x)
        except KeyError:
            pass
        x.neg()
        return sorted(seen.items())

    return run


def right(program):
    return run(lambda: wrapped(Counter()))(program)


def also_after(program):
    return sorted((Counter(dict(right(program))) + Counter({"aten::neg": 1})).items())


def after_errors(program):
    return also_after(program) if "error" in program else right(program)


def kept(program):
    so_far = list(PROGRAMS)[: list(PROGRAMS).index(program) + 1]  # and before them the call of exp in `check`
    return sorted(sum((Counter(dict(right(one))) for one in so_far), Counter({"aten::exp": 1})).items())


def once(program):
    return [(name, 1) for name, _ in right(program)]


IDEAS = {
    "You may have left the key in tls.included after the block. The call of neg came later, and was counted too.": (
        also_after
    ),
    "You may have taken the key away only where nothing fails. An error in the block skips what stands after yield, "
    "if it does not stand under finally.": after_errors,
    "You may have kept the counts of the block before. Each block begins at 0.": kept,
    "You may have noted which operators were called, and not how often.": once,
    "You may have not called the operator's kernel from your fallback, or not returned what it gave.": (
        lambda program: []
    ),
}


def check(work):
    x = toytorch.tensor([0.0, 0.0])
    with work.counting():
        y = x.exp()
    if type(y) is not toytorch.Tensor:
        raise Wrong(
            f"x.exp() is {y!r} while calls are counted. You may have counted and stopped there: a kernel has to "
            "return the result, which the kernel below gives it through op.redispatch."
        )
    otherwise = (
        "Each call from Python counts, in backward as well, and an operator made of others makes them call too. A node "
        "that saves its own result calls aten::detach."
    )
    compare("counting", [(name,) for name in PROGRAMS], run(work.counting), right, IDEAS, otherwise)
