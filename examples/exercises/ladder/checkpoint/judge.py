"""Compare gradients with those of the same function without a checkpoint; then count calls, nodes, bytes, versions."""

from check import Wrong, compare
from ladder.rungs import toytorch, values

SCALE = 1.5
FUNCTIONS = {
    "x.exp().tanh()": lambda x, w: x.exp().tanh(),
    "(x * w).tanh()": lambda x, w: (x * w).tanh(),
    "x * x + w": lambda x, w: x * x + w,
}
CASES = tuple((name, twice) for name in FUNCTIONS for twice in (False, True))


def run(checkpoint):
    """The result, and the gradients of x's leaf and of a parameter w; with `twice`, a checkpoint of a checkpoint."""

    def run(name, twice):
        leaf, w = (toytorch.tensor(data, requires_grad=True) for data in ([0.5, -1.0], [2.0, 3.0]))
        x, function = leaf * SCALE, lambda x: FUNCTIONS[name](x, w)
        result = checkpoint(function, x)
        result = checkpoint(function, result) if twice else result
        (result * toytorch.tensor([1.0, 10.0])).sum().backward()
        return values(result), values(leaf.grad), values(w.grad)

    return run


def changed(change):
    """The right answer with other gradients."""

    def rival(*case):
        result, leaf, w = right(*case)
        return result, *change(leaf, w)

    return rival


def plain_gradient(*case):
    """What comes when the gradient of the result counts as 1 everywhere."""
    return ones(*case)


right = run(lambda function, x: function(x))
ones = run(lambda function, x: OnesOf.apply(function, x))


class OnesOf(toytorch.autograd.Node):
    @classmethod
    def apply(cls, function, x):
        with toytorch.no_grad():
            result = function(x)
        node = cls("OnesOf", [x])
        node.apply = lambda grad: cls.ones(function, x)
        result.grad_fn = node
        return result

    @staticmethod
    def ones(function, x):
        x = x.detach().requires_grad_()
        with toytorch.enable_grad():
            function(x).sum().backward()
        return [x.grad]


IDEAS = {
    "You may have lost the gradient of w. The function uses w as well, and again.backward(grad) reaches all leaves of "
    "the new graph.": changed(lambda leaf, w: (leaf, None)),
    "You may have left out grad. backward goes on from the gradient of the result, which is not 1.": plain_gradient,
}


def used(call):
    """What a call gives, and the bytes that are in use afterwards and were not before."""
    before = toytorch.memory.allocator.allocated
    result = call()
    return result, toytorch.memory.allocator.allocated - before


def check(work):
    calls, x = [], toytorch.tensor([0.5] * 1000, requires_grad=True)

    def function(x):
        calls.append(x)
        for _ in range(10):
            x = x.exp().tanh()
        return x

    result, held = used(lambda: work.checkpoint(function, x))
    calls.clear()
    one = used(lambda: toytorch.zeros(1000))[1]
    if held > 2 * one:
        raise Wrong(
            f"after forward {held} bytes are in use, and {one} are expected, those of the result. You may have "
            "recorded the function in forward. Its graph keeps what each operation saves, which a checkpoint avoids."
        )
    result.sum().backward()
    if len(calls) != 1:
        raise Wrong(f"backward called the function {len(calls)} times, and 1 is expected.")
    if calls[0] is x or calls[0].grad_fn is not None:
        raise Wrong(
            "the function was called with x itself in backward. You may have left out detach(): then its graph "
            "goes on above x, and backward runs what lies there once here and once more afterwards."
        )
    compare("checkpoint", CASES, run(work.checkpoint), right, IDEAS, "Gradients are those without a checkpoint.")
    y = x * 1.0
    result = work.checkpoint(lambda x: x.exp(), y).sum()
    y.mul_(2.0)
    try:
        result.backward()
    except RuntimeError:
        return
    raise Wrong(
        "x was written to in place, and backward computed the function again on the new elements. You may have kept x "
        "without its version, which SavedVariable has."
    )
