# says: abs is not an in-place operator
"""A kernel for each backend: one computes, the other only describes."""

import numpy as np
import toytorch as torch
from toytorch.dispatch import library
from toytorch.factories import empty


@library("CPU", "abs")
def abs_cpu(self):
    array = self.array()
    np.abs(array, out=array)
    return self


@library("Meta", "abs")
def abs_meta(self):
    return empty(self.shape, self.dtype, self.device)


torch.publish()
