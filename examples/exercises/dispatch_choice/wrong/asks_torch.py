# says: the file imports `torch`
"""Has torch fill the table."""

import torch


def kernels(registered, keys):
    library = torch.library.Library("mine", "FRAGMENT")
    library.define("f(Tensor x) -> Tensor")
    for name in registered:
        library.impl("f", lambda x: x, name)
    return torch._C._dispatch_dump_table("mine::f")
