"""Compare the gradient that flows through abs in toytorch with torch's."""

import numpy as np
from check import compare
from ladder.rungs import both, readable, values

DATA = [-2.0, -0.5, 0.0, 0.5, 3.0]
CASES = tuple((DATA, grad) for grad in ([1.0] * 5, [2.0, 3.0, 4.0, 5.0, 6.0], [-1.0, 0.0, 1.0, 0.5, 2.5]))


def ask(torch, data, grad):
    x = torch.tensor(data, requires_grad=True)
    torch.abs(x).backward(torch.tensor(grad))
    return values(x.grad)


def formula(function):
    def rival(data, grad):
        with np.errstate(all="ignore"):
            return readable((function(np.array(data), np.array(grad)) + np.zeros(5)).round(3).tolist())

    return rival


IDEAS = {
    "You may have passed the gradient on as it came. Where x is negative, abs falls while x grows, so the gradient "
    "changes its sign there.": formula(lambda x, grad: grad),
    "You may have left out grad. The formula gives the gradient of the loss, so it multiplies the slope of abs with "
    "the gradient of the result.": formula(lambda x, grad: np.sign(x)),
    "You may have counted 0 as positive. At 0 torch takes the slope in the middle between -1 and 1.": formula(
        lambda x, grad: np.where(x >= 0, grad, -grad)
    ),
    "You may have counted 0 as negative. There torch takes the middle of -1 and 1, which is a slope of 0.": formula(
        lambda x, grad: np.where(x > 0, grad, -grad)
    ),
    "You may have divided by the absolute value. At 0 that is 0 / 0, and NaN spreads to all gradients below.": formula(
        lambda x, grad: grad * x / np.abs(x)
    ),
    "You may have cut off negative elements, as relu does. The slope of abs is -1 there, not 0.": formula(
        lambda x, grad: grad * (x > 0)
    ),
}


def check(work):
    compare("grad of abs", CASES, *both(ask), IDEAS, "The gradient of x is grad times the sign of x, and 0 at 0.")
