"""Two running means per parameter, corrected for their start at zero; the decay acts on the weight itself."""

import torch


class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.params = list(params)
        self.lr, self.betas, self.eps, self.weight_decay = lr, betas, eps, weight_decay
        self.steps = [0] * len(self.params)
        self.means = [torch.zeros_like(p) for p in self.params]
        self.squares = [torch.zeros_like(p) for p in self.params]

    @torch.no_grad()
    def step(self):
        for i, p in enumerate(self.params):
            if p.grad is None:
                continue
            beta1, beta2 = self.betas
            self.steps[i] += 1
            self.means[i] = beta1 * self.means[i] + (1 - beta1) * p.grad
            self.squares[i] = beta2 * self.squares[i] + (1 - beta2) * p.grad**2
            m_hat = self.means[i] / (1 - beta1 ** self.steps[i])
            v_hat = self.squares[i] / (1 - beta2 ** self.steps[i])
            p.mul_(1 - self.lr * self.weight_decay)
            p.sub_(self.lr * m_hat / (v_hat.sqrt() + self.eps))

    def zero_grad(self):
        for p in self.params:
            p.grad = None
