"""Compare logsumexp and its gradient in toytorch with torch's: along each dimension, with large elements."""

import torch
from check import Wrong, compare
from ladder.rungs import both, toytorch, values

ROWS = [[1.0, 2.0, 3.0], [0.0, -1.0, 4.0]]
CASES = (
    (ROWS, 1, [[1.0], [1.0]]),
    (ROWS, -1, [[2.0], [-3.0]]),
    (ROWS, 0, [[1.0, 10.0, 100.0]]),
    ([[1000.0, 999.0], [-1000.0, -1000.0]], 1, [[1.0], [2.0]]),
)


def forward(torch, data, dim, grad):
    return values(torch.logsumexp(torch.tensor(data), dim, True))


def backward(torch, data, dim, grad):
    x = torch.tensor(data, requires_grad=True)
    torch.logsumexp(x, dim, True).backward(torch.tensor(grad))
    return values(x.grad)


def by_hand(function):
    """What a function of x, dim and the gradient gives."""
    return lambda data, dim, grad: values(function(torch.tensor(data), dim, torch.tensor(grad)))


VALUES = {
    "You may have computed the exponentials as they stand. exp(1000) is infinite in float32 and exp(-1000) is 0. "
    "Subtract the largest element first, and add it to the result.": by_hand(
        lambda x, dim, _: x.exp().sum(dim, True).log()
    ),
    "You may have forgotten to add the largest element again. Your result is too small by exactly that.": by_hand(
        lambda x, dim, _: x.logsumexp(dim, True) - x.amax(dim, True)
    ),
    "You may have dropped the dimension. With keepdim it stays, with size 1.": by_hand(
        lambda x, dim, _: x.logsumexp(dim)
    ),
}
GRADIENTS = {
    "You may have left out grad. The softmax is the slope; the chain rule multiplies it with the gradient of the "
    "result.": by_hand(lambda x, dim, grad: x.softmax(dim)),
    "You may have given all elements the gradient of the result, as sum does. The larger an element, the more of it "
    "it gets.": by_hand(lambda x, dim, grad: grad.expand(x.shape)),
    "You may have used exp(x) as the slope, which is right for a sum of exponentials. The logarithm divides it by that "
    "sum.": by_hand(lambda x, dim, grad: grad * x.exp()),
}


def check(work):
    compare("logsumexp", CASES, *both(forward), VALUES, "It is log(exp(x).sum(dim, True)).")
    x = toytorch.tensor(ROWS, requires_grad=True)
    if (node := toytorch.logsumexp(x, 1, True).grad_fn) is None or node.name() != "LogsumexpBackward0":
        raise Wrong(
            f"the node of the result is {node and node.name()}, and LogsumexpBackward0 is expected. You may have made "
            "logsumexp of other operators. They have nodes of their own, each of which saves tensors."
        )
    otherwise = "The gradient of x is grad times the softmax of x along the dimension."
    compare("grad of logsumexp", CASES, *both(backward), GRADIENTS, otherwise)
