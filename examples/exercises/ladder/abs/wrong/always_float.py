# says: every result float32
"""A kernel for each backend: one computes, the other only describes."""

import numpy as np
import toytorch as torch
from toytorch.dispatch import library
from toytorch.factories import empty


@library("CPU", "abs")
def abs_cpu(self):
    return torch.tensor(np.abs(self.array()), torch.float32)


@library("Meta", "abs")
def abs_meta(self):
    return empty(self.shape, torch.float32, self.device)


torch.publish()
