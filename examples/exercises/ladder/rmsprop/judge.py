"""Compare three steps of RMSprop in toytorch with torch's, then hand its state to torch and take a fourth."""

import numpy as np
from check import Wrong, compare
from ladder.rungs import readable, torch, toytorch, values

START, PULL = [1.0, -2.0, 0.5], [[1.0, 2.0, -1.0], [0.5, -3.0, 0.0], [0.01, 1.0, 2.0], [1.0, 1.0, 1.0]]
CASES = ((0.1, 0.99, 1e-8), (0.1, 0.5, 1e-8), (0.01, 0.9, 0.5), (0.5, 0.9, 1.0))


def steps(package, optimizer, p, grads):
    for grad in grads:
        p.grad = package.tensor(grad)
        optimizer.step()
    return values(p)


def three(package, RMSprop):  # noqa: N803
    """What the parameter is after three steps."""

    def run(lr, alpha, eps):
        p = package.tensor(START, requires_grad=True)
        return steps(package, RMSprop([p], lr=lr, alpha=alpha, eps=eps), p, PULL[:3])

    return run


def rival(root=lambda v, eps: np.sqrt(v) + eps, average=lambda v, g, alpha: alpha * v + (1 - alpha) * g * g, sign=-1):
    def run(lr, alpha, eps):
        p, v = np.array(START), np.zeros(3)
        with np.errstate(all="ignore"):
            for grad in map(np.array, PULL[:3]):
                v = average(v, grad, alpha)
                p = p + sign * lr * grad / root(v, eps)
        return readable(p.round(3).tolist())

    return run


IDEAS = {
    "You may have added eps before the root. RMSprop adds it to the root, sqrt(square_avg) + eps.": rival(
        lambda v, eps: np.sqrt(v + eps)
    ),
    "You may have exchanged alpha and 1 - alpha. The old average keeps the share alpha, which is close to 1.": rival(
        average=lambda v, g, alpha: (1 - alpha) * v + alpha * g * g
    ),
    "You may have left out the root. The average is of squares, so only its root has the size of a gradient.": rival(
        lambda v, eps: v + eps
    ),
    "You may have averaged the gradients themselves, as momentum does. RMSprop averages their squares.": rival(
        lambda v, eps: np.sqrt(v) + eps, lambda v, g, alpha: alpha * v + (1 - alpha) * g
    ),
    "You may have added all squares up without ever forgetting one, as Adagrad does. alpha makes it an average.": rival(
        average=lambda v, g, alpha: v + g * g
    ),
    "You may have stepped uphill: p changes by -lr times the quotient.": rival(sign=1),
}


def state_of(optimizer):
    """The names in the state of the first parameter, and what they are; a tensor of one element is its number."""
    (state,) = optimizer.state_dict()["state"].values()
    return {name: kind(one) for name, one in sorted(state.items())}


def kind(one):
    if not isinstance(one, toytorch.Tensor | torch.Tensor):
        return f"{type(one).__name__} {one}"
    return f"tensor {one.item()}" if one.numel() == 1 else "tensor"


def as_torch(value):
    """A state dict with tensors of torch."""
    if isinstance(value, dict):
        return {name: as_torch(one) for name, one in value.items()}
    if isinstance(value, list):
        return [as_torch(one) for one in value]
    return torch.tensor(value.detach().numpy()) if isinstance(value, toytorch.Tensor) else value


def check(work):
    otherwise = "square_avg is an average of squared gradients, and p changes by -lr * grad / (sqrt(square_avg) + eps)."
    right = three(torch, torch.optim.RMSprop)
    compare("three steps", CASES, three(toytorch, work.RMSprop), right, IDEAS, otherwise)
    mine, theirs = toytorch.tensor(START, requires_grad=True), torch.tensor(START, requires_grad=True)
    optimizer, reference = work.RMSprop([mine], lr=0.1, alpha=0.9), torch.optim.RMSprop([theirs], lr=0.1, alpha=0.9)
    steps(toytorch, optimizer, mine, PULL[:3])
    steps(torch, reference, theirs, PULL[:3])
    came, expected = state_of(optimizer), state_of(reference)
    if came != expected:
        if "step" not in came:
            why = "You may have left out step. The arithmetic does not need it, but torch looks for it when it loads."
        elif came.keys() != expected.keys():
            why = "torch finds the state by its names, so what has another name is lost."
        else:
            why = "torch counts steps in a tensor. Yours stands still or is a number."
        raise Wrong(f"the state after three steps\n  gave      {came}\n  expected  {expected}\n{why}")
    again = torch.optim.RMSprop([theirs], lr=3.0)
    again.load_state_dict(as_torch(optimizer.state_dict()))
    if steps(torch, again, theirs, PULL[3:]) != steps(toytorch, optimizer, mine, PULL[3:]):
        raise Wrong("torch loaded the state, and its next step differs from yours. Options belong in param_groups.")
