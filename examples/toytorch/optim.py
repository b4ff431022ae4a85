"""Optimizers: parameters, a state for each, and a rule (torch/optim/optimizer.py, sgd.py, adamw.py)."""

from collections import defaultdict

from ._tensor import TORCH_CHECK
from .dispatch import GradMode, aten
from .factories import tensor


class Optimizer:
    """One group of parameters, with one set of options. A subclass has `update`, the rule for a parameter."""

    def __init__(self, params, **options):
        params = list(params)
        TORCH_CHECK(params, "optimizer got an empty parameter list", ValueError)
        TORCH_CHECK(not any(p.grad_fn for p in params), "can't optimize a non-leaf Tensor", ValueError)
        TORCH_CHECK(options["lr"] >= 0, f"Invalid learning rate: {options['lr']}", ValueError)
        self.param_groups, self.state = [{**options, "params": params}], defaultdict(dict)

    def zero_grad(self):
        for p in self.param_groups[0]["params"]:
            p.grad = None

    @GradMode(False)
    def step(self):
        for p in self.param_groups[0]["params"]:
            if p.grad is not None:
                self.update(p, p.grad, self.state[p], self.param_groups[0])

    def state_dict(self):  # parameters are numbers here
        group = self.param_groups[0]
        state = {i: dict(self.state[p]) for i, p in enumerate(group["params"]) if p in self.state}
        return {"state": state, "param_groups": [{**group, "params": [*range(len(group["params"]))]}]}

    def load_state_dict(self, state_dict):
        mine, theirs = self.param_groups[0], state_dict["param_groups"][0]
        said = "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
        TORCH_CHECK(len(theirs["params"]) == len(mine["params"]), said, ValueError)
        unknown = [name for name, value in theirs.items() if value and name not in mine]  # what is off needs no code
        TORCH_CHECK(not unknown, f"toytorch has no {unknown}", NotImplementedError)
        mine.update({**theirs, "params": mine["params"]})
        self.state = defaultdict(dict, {mine["params"][i]: dict(one) for i, one in state_dict["state"].items()})


class SGD(Optimizer):
    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0):
        super().__init__(params, lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay)

    def update(self, p, grad, state, group):
        grad = grad.add(p, alpha=group["weight_decay"]) if group["weight_decay"] else grad.clone()
        if group["momentum"]:
            old = state.get("momentum_buffer")
            grad = grad if old is None else old.mul_(group["momentum"]).add_(grad, alpha=1 - group["dampening"])
            state["momentum_buffer"] = grad
        p.add_(grad, alpha=-group["lr"])


class AdamW(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        super().__init__(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, decoupled_weight_decay=True)

    def update(self, p, grad, state, group):
        if not state:
            state.update(step=tensor(0.0), exp_avg=aten.zeros_like(p), exp_avg_sq=aten.zeros_like(p))
        lr, (beta1, beta2), step = group["lr"], group["betas"], state["step"].add_(1).item()
        p.mul_(1 - lr * group["weight_decay"])
        state["exp_avg"].mul_(beta1).add_(grad, alpha=1 - beta1)
        state["exp_avg_sq"].mul_(beta2).add_(grad * grad, alpha=1 - beta2)
        denom = (state["exp_avg_sq"].sqrt() / (1 - beta2**step) ** 0.5).add_(group["eps"])
        p.add_(state["exp_avg"] / denom, alpha=-lr / (1 - beta1**step))
