"""Optimizers: groups of parameters, a state for each, and a rule (torch/optim/optimizer.py, sgd.py, adamw.py)."""

from collections import defaultdict
from itertools import chain

from .factories import tensor, zeros_like
from .storage import TORCH_CHECK
from .variable import GradMode


class Optimizer:
    def __init__(self, params, defaults):
        TORCH_CHECK(defaults["lr"] >= 0, f"Invalid learning rate: {defaults['lr']}", ValueError)
        params = list(params)
        TORCH_CHECK(params, "optimizer got an empty parameter list", ValueError)
        groups = params if isinstance(params[0], dict) else [{"params": params}]
        self.defaults, self.state = defaults, defaultdict(dict)
        self.param_groups = [{**defaults, **group, "params": list(group["params"])} for group in groups]

    def zero_grad(self, set_to_none=True):
        for p in chain(*(group["params"] for group in self.param_groups)):
            if set_to_none or p.grad is None:
                p.grad = None
            else:
                p.grad = zeros_like(p.grad)

    @GradMode(False)
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self.update(p, p.grad, self.state[p], group)

    def state_dict(self):
        """Parameters are numbers here, in the order of the groups."""
        number = {p: i for i, p in enumerate(chain(*(group["params"] for group in self.param_groups)))}
        groups = [{**group, "params": [number[p] for p in group["params"]]} for group in self.param_groups]
        return {"state": {number[p]: dict(state) for p, state in self.state.items()}, "param_groups": groups}

    def load_state_dict(self, state_dict):
        saved = state_dict["param_groups"]
        lengths = [[len(group["params"]) for group in groups] for groups in (saved, self.param_groups)]
        said = "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
        TORCH_CHECK(lengths[0] == lengths[1], said, ValueError)
        params = dict(zip(chain(*(g["params"] for g in saved)), chain(*(g["params"] for g in self.param_groups))))
        self.state = defaultdict(dict, {params[i]: dict(state) for i, state in state_dict["state"].items()})
        for group, theirs in zip(self.param_groups, saved):
            group.update({**theirs, "params": group["params"]})


class SGD(Optimizer):
    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False):
        options = {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay}
        others = dict.fromkeys(["maximize", "differentiable"], False) | dict.fromkeys(["foreach", "fused"])
        super().__init__(params, {**options, "nesterov": nesterov, **others})

    def update(self, p, grad, state, group):
        if group["weight_decay"]:
            grad = grad.add(p, alpha=group["weight_decay"])
        if momentum := group["momentum"]:
            if state.get("momentum_buffer") is None:
                state["momentum_buffer"] = grad.clone()
            else:
                state["momentum_buffer"].mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            buf = state["momentum_buffer"]
            grad = grad.add(buf, alpha=momentum) if group["nesterov"] else buf
        p.add_(grad, alpha=-group["lr"])


class AdamW(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        others = dict.fromkeys(["amsgrad", "maximize", "capturable", "differentiable"], False)
        others |= {"foreach": None, "fused": None, "decoupled_weight_decay": True}
        super().__init__(params, options | others)

    def update(self, p, grad, state, group):
        if not state:
            state.update(step=tensor(0.0), exp_avg=zeros_like(p), exp_avg_sq=zeros_like(p))
        (beta1, beta2), lr, step = group["betas"], group["lr"], state["step"].add_(1).item()
        p.mul_(1 - lr * group["weight_decay"])
        state["exp_avg"].lerp_(grad, 1 - beta1)
        state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        denom = (state["exp_avg_sq"].sqrt() / (1 - beta2**step) ** 0.5).add_(group["eps"])
        p.addcdiv_(state["exp_avg"], denom, value=-lr / (1 - beta1**step))
