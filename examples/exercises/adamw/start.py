"""Write AdamW with tensor operations only.

After each step the parameters must be those of torch.optim.AdamW.
"""

import torch


class AdamW:
    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=1e-2,
    ):
        """params is any iterable, as model.parameters() is."""
        raise NotImplementedError("write AdamW.__init__")

    def step(self):
        """Change each parameter whose grad is not None, in place."""
        raise NotImplementedError("write AdamW.step")

    def zero_grad(self):
        """Set p.grad to None for each parameter p."""
        raise NotImplementedError("write AdamW.zero_grad")


if __name__ == "__main__":
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    try:
        optimizer = AdamW([w], lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            w.square().sum().backward()
            optimizer.step()
            print(w.detach())
    except NotImplementedError as missing:
        print("not written yet:", missing)
