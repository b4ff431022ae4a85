"""Give an optimizer and torch.optim.AdamW the same gradients, and compare each parameter after each step."""

from pathlib import Path

import torch
from check import Wrong, calls
from torch.utils._python_dispatch import TorchDispatchMode

SETTINGS = {"lr": 0.1, "betas": (0.8, 0.9), "eps": 0.05, "weight_decay": 0.3}
STEPS = 4


def parameters():
    torch.manual_seed(0)
    shapes = {"a": (3,), "b": (2, 2), "c": (2,)}
    return {name: torch.randn(shape, dtype=torch.float64).requires_grad_() for name, shape in shapes.items()}


def gradients(step):
    """b gets its first gradient in step 2; c gets none."""
    torch.manual_seed(step)
    a, b = torch.randn(3, dtype=torch.float64), torch.randn(2, 2, dtype=torch.float64)
    return {"a": a, "b": b if step > 1 else None, "c": None}


def left_over(optimizer, params):
    """A parameter's gradient that zero_grad() leaves, or None."""
    for p in params:
        p.grad = torch.ones_like(p)
    optimizer.zero_grad()
    return next((p.grad for p in params if p.grad is not None), None)


def check_zero_grad(make, optimizer, params):
    """Raise Wrong when a gradient stays; a list instead of a generator tells whether the loop is to blame."""
    grad = left_over(optimizer, params)
    if grad is None:
        return
    said = f"After zero_grad() the gradient of a parameter is {numbers(grad)}, but p.grad should be None."
    again = make(params, **SETTINGS)
    if left_over(again, params) is None and left_over(again, params) is None:
        said += (
            " With a list of parameters it is None. But the check passes a generator, like model.parameters(). Your "
            "first loop over the generator used it up, and later loops see nothing. Keep list(params)."
        )
    raise Wrong(said)


def run(make):
    """The parameters after each step, as {(step, name): values}."""
    params = parameters()
    aliases = {name: p.detach() for name, p in params.items()}
    optimizer = make((p for p in params.values()), **SETTINGS)
    found = {}
    for step in range(1, STEPS + 1):
        check_zero_grad(make, optimizer, params.values())
        for name, p in params.items():
            grad = gradients(step)[name]
            p.grad = None if grad is None else grad.clone()
        optimizer.step()
        for name, p in params.items():
            found[step, name] = p.detach().clone()
            grad = gradients(step)[name]
            if grad is not None and (p.grad is None or not torch.equal(p.grad, grad)):
                raise Wrong(
                    "step() has changed p.grad. You may have thought that the gradient is yours to use up. It "
                    "belongs to the caller, who may log it, clip it or step another optimizer with it. Compute with "
                    "a tensor of your own."
                )
            if not torch.equal(aliases[name], p):
                raise Wrong(
                    "You may have assigned a new tensor. After step() the parameter has new memory, and a tensor "
                    "that shared it still shows the old values. Views, flat buffers and graphs recorded earlier keep "
                    "the old memory. Write into it, with p.mul_ and p.sub_."
                )
    return found


class Rival:
    """AdamW with a mistake."""

    def __init__(self, params, lr, betas, eps, weight_decay, mistake=""):
        self.params, self.mistake = list(params), mistake
        self.lr, self.betas, self.eps, self.decay = lr, betas, eps, weight_decay
        self.state = {p: [0, torch.zeros_like(p), torch.zeros_like(p)] for p in self.params}
        self.count = 0

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    @torch.no_grad()
    def step(self):
        self.count += 1
        for p in self.params:
            if p.grad is not None or self.mistake == "zeros":
                self.change(p, torch.zeros_like(p) if p.grad is None else p.grad)

    def change(self, p, grad):
        lr, decay, eps, is_ = self.lr, self.decay, self.eps, self.mistake.__eq__
        beta1, beta2 = self.betas[::-1] if is_("betas") else self.betas
        state = self.state[p]
        state[0] += 1
        t = self.count if is_("count") else state[0]
        if is_("l2"):
            grad = grad + decay * p
        state[1] = beta1 * state[1] + (1 if is_("sum") else 1 - beta1) * grad
        state[2] = beta2 * state[2] + (1 - beta2) * (grad.abs() if is_("abs") else grad**2)
        mean, square = state[1] / (1 - beta1**t), state[2] / (1 - beta2**t)
        if is_("raw"):
            mean, square = state[1], state[2]
        root = (square + eps).sqrt() if is_("inside") else square.sqrt() + eps
        if is_("early"):
            root = (state[2].sqrt() + eps) / (1 - beta2**t) ** 0.5
        change = lr * mean / root
        factor = {"l2": 1, "none": 1, "full": 1 - decay}.get(self.mistake, 1 - lr * decay)
        if is_("after"):
            p.sub_(change).mul_(factor)
        else:
            p.mul_(factor).sub_(change)


IDEAS = {
    "l2": "You may have thought of AdamW as Adam with L2 regularization. The decay went into the gradient, and so "
    "into both running means. There it is scaled like the gradient, so a weight with large gradients hardly "
    "decays. AdamW shrinks the weight itself, apart from the means.",
    "none": "You may have left out the decay: weight_decay is not used.",
    "full": "You may have thought that the decay does not depend on lr. The weights shrink by weight_decay in your "
    "update. In torch they shrink by lr * weight_decay, so a smaller lr means less decay.",
    "after": "You may have moved the weight before you decayed it. The decay came after the change, so it shrinks "
    "the change too. First decay the weight, then move it.",
    "raw": "You may have thought that the running means need no correction. The running means are used as they are, "
    "but they start at 0. After t steps, the shares of the gradients in a mean add up to 1 - beta ** t only, "
    "so divide by that.",
    "count": "You may have kept one counter for all parameters. All parameters share one step number in your "
    "update. But b got its first gradient in step 2, so for b this is step 1. Each parameter counts its "
    "own steps.",
    "inside": "You may have added eps before taking the root. torch takes the root first and then adds eps, so the "
    "divisor is never smaller than eps.",
    "early": "You may have added eps before the second mean was corrected, so the correction enlarges eps too. "
    "First correct, then take the root, then add eps.",
    "zeros": "You may have treated None as a gradient of zero. A parameter without a gradient was changed as if its "
    "gradient were zero. None means that no backward reached the parameter, and torch leaves such a "
    "parameter alone.",
    "betas": "You may have mixed up the two betas. The two betas are exchanged in your update: the first belongs to "
    "the mean of the gradients, the second to the mean of their squares.",
    "sum": "You may have added the whole gradient to the first mean. The gradient's share in the mean is 1 - beta1.",
    "abs": "You may have averaged absolute values. The second mean is a mean of squares, and its root is taken at "
    "the end.",
}


def refused(name):
    return Wrong(
        f"`{name}` of torch's own optimizer does the work. The check compares with that optimizer, so write the "
        "update yourself, with operations on tensors."
    )


class NoFusedKernel(TorchDispatchMode):
    """Refuses the operators that are a whole step."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.__name__.startswith("_fused_adam"):
            raise refused(func.__name__)
        return func(*args, **(kwargs or {}))


def watched(make):
    """Run, and raise Wrong when torch's own optimizer does the work."""

    def seen(file, name):
        path = Path(file)
        if path.parent.name == "optim" and path.stem.startswith(("adam", "_adam", "_functional")):
            raise refused(name)

    with calls(seen), NoFusedKernel():
        return run(make)


def differing(came, expected):
    return [key for key in expected if not torch.allclose(came[key], expected[key], rtol=1e-9, atol=1e-12)]


def numbers(x):
    return ", ".join(f"{float(value):.4f}" for value in x.flatten())


def check(work):
    expected = run(torch.optim.AdamW)
    came = watched(work.AdamW)
    if not (bad := differing(came, expected)):
        return
    step, name = key = bad[0]
    grads = [gradients(past)[name] for past in range(1, step + 1)]
    history = "; ".join("None" if grad is None else numbers(grad) for grad in grads)
    said = "The rule is in the update of torch.optim.AdamW's documentation: decay, two means, two corrections, a step."
    for mistake, idea in IDEAS.items():
        if not differing(came, run(lambda *args, m=mistake, **settings: Rival(*args, **settings, mistake=m))):
            said = idea
            break
    settings = ", ".join(f"{key}={value}" for key, value in SETTINGS.items())
    raise Wrong(
        f"AdamW(params, {settings})\n  parameter {name}, at first {numbers(parameters()[name].detach())}\n"
        f"  gradients until step {step}: {history}\n"
        f"  gave      {numbers(came[key])}\n  expected  {numbers(expected[key])}\n{said}"
    )
