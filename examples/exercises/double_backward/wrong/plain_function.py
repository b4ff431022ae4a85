# says: is no torch.autograd.Function
"""Leaves the derivative to autograd."""

import torch


class Bump:
    @staticmethod
    def apply(x, width):
        return torch.exp(-((x / width) ** 2))
