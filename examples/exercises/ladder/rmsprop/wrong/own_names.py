# says: what has another name is lost
"""A running average of the squared gradients, and the number of steps."""

import toytorch as torch
from toytorch.optim import Optimizer


class RMSprop(Optimizer):
    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8):
        options = {"lr": lr, "alpha": alpha, "eps": eps}
        super().__init__(params, **options, weight_decay=0)

    def update(self, p, grad, state, group):
        if not state:
            zeros = torch.zeros_like(p)
            state.update(step=torch.tensor(0.0), average=zeros)
        average, alpha = state["average"], group["alpha"]
        state["step"].add_(1)
        average.mul_(alpha).add_(grad * grad, alpha=1 - alpha)
        quotient = grad / (average.sqrt() + group["eps"])
        p.add_(quotient, alpha=-group["lr"])
