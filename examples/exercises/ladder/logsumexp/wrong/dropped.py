# says: dropped the dimension
"""The largest element comes out of the exponential; the gradient is the softmax."""

import numpy as np
import toytorch as torch
from toytorch.derivatives import derivative
from toytorch.dispatch import library


@library("CPU")
def logsumexp(self, dim, keepdim=True):
    array = self.array()
    top = array.max(dim, keepdims=True)
    result = np.log(np.exp(array - top).sum(dim, keepdims=True)) + top
    return torch.tensor(result.squeeze(dim), self.dtype)


derivative("logsumexp: self = grad * (self - result).exp()")
torch.publish()
