"""Give toytorch the operator abs, on the CPU and on meta."""

import numpy as np
import toytorch as torch
from toytorch.dispatch import library
from toytorch.factories import empty


@library("CPU", "abs")
def abs_cpu(self):
    """A new tensor with the elements without their signs."""
    raise NotImplementedError("write abs_cpu")


@library("Meta", "abs")
def abs_meta(self):
    """A new tensor without data, of the right sizes and dtype."""
    raise NotImplementedError("write abs_meta")


torch.publish()

if __name__ == "__main__":
    try:
        print(torch.tensor([-1.5, 2.0]).abs())
    except NotImplementedError as missing:
        print("not written yet:", missing)
