"""Functions in front of kernels, which note that these run."""

from collections.abc import Callable, Iterable

import torch
from torch.library import Library, get_kernel


def put_before(
    library: Library, kernels: dict[str, Iterable], note: Callable, ends: Callable = lambda key: False
) -> None:
    """Puts a function in front of each kernel that operators of aten have for these keys, until the library is
    destroyed: it calls `note(operator, key, keys of the call, its arguments)`, and then the kernel. What the kernel of
    a key that `ends` a call calls is left out. Numbers that the function gets for tensors become tensors again."""
    # All kernels, before one that is put in changes what others are.
    found = {(name, key): get_kernel(f"aten::{name}", key) for name, keys in kernels.items() for key in keys}
    inside = []
    for (name, key), kernel in found.items():
        packet, _, overload = name.partition(".")
        tensors = [str(one.type) == "Tensor" for one in torch._C._get_schema(f"aten::{packet}", overload).arguments]

        def instead(keyset, *args, name=name, key=key, kernel=kernel, tensors=tensors, **options):
            depth = len(inside)
            if not inside:
                note(name, key, keyset, args)
            inside.extend([key] * ends(key))
            args = [torch.tensor(a) if t and isinstance(a, int | float) else a for a, t in zip(args, tensors)]
            try:
                return kernel.call_boxed(keyset, *args, **options)
            finally:
                del inside[depth:]

        library.impl(name, instead, key, with_keyset=True)
