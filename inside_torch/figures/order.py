"""Backward as it runs: what hooks see of it, and the order of its nodes."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

import torch


@contextmanager
def watched(tensors: Iterable[torch.Tensor]) -> Iterator[ExitStack]:
    """The tensors without gradients, and a stack for hooks; in the end the gradients are back and the hooks gone."""
    held = [(tensor, tensor.grad) for tensor in tensors]
    with ExitStack() as hooks:
        for tensor, grad in held:
            hooks.callback(setattr, tensor, "grad", grad)
            tensor.grad = None
        yield hooks


def recorded(tensor: torch.Tensor, nodes: list) -> list:
    """The nodes in the order in which a backward from the tensor runs them; it retains the graph. Raises ValueError
    unless each node runs once."""
    ran = []
    with watched(node.variable for node in nodes if hasattr(node, "variable")) as hooks:
        for node in nodes:
            hooks.enter_context(node.register_prehook(lambda _, node=node: ran.append(node)))
        # A gradient that is given makes torch import sympy, which takes half a second.
        tensor.backward(None if tensor.numel() == 1 else torch.ones_like(tensor), retain_graph=True)
    if len(ran) != len(nodes) or set(ran) != set(nodes):
        raise ValueError(f"each of {len(nodes)} nodes must run once, and {len(ran)} ran")
    return ran
