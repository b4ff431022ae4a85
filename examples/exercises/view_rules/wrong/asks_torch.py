# says: the file imports `torch`
"""Lets torch decide."""


def view(sizes, strides, shape):
    import torch

    try:
        x = torch.empty(1000).as_strided(sizes, strides).view(shape)
    except RuntimeError as error:
        raise ValueError(error) from error
    return x.shape, x.stride()
