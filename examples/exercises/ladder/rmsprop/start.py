"""Write RMSprop for toytorch, with a state dict that torch can load."""

import toytorch as torch
from toytorch.optim import Optimizer


class RMSprop(Optimizer):
    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8):
        options = {"lr": lr, "alpha": alpha, "eps": eps}
        super().__init__(params, **options, weight_decay=0)

    def update(self, p, grad, state, group):
        """One step of one parameter, in place.

        step() calls this with gradients off. state is a dict that stays
        with p, empty at first; group has the options.
        """
        raise NotImplementedError("write update")


if __name__ == "__main__":
    p = torch.tensor([1.0, 2.0], requires_grad=True)
    (p * p).sum().backward()
    try:
        RMSprop([p]).step()
        print(p)
    except NotImplementedError as missing:
        print("not written yet:", missing)
