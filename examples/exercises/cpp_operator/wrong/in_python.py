# says: is a function of Python
"""Registers a function of torch instead of compiling one."""

import torch


def build():
    def shrink(x: torch.Tensor, by: float) -> torch.Tensor:
        return torch.nn.functional.softshrink(x, by)

    torch.library.custom_op("exercise::shrink", shrink, mutates_args=())
