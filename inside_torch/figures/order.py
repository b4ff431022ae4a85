"""The order in which backward runs the nodes of a graph, recorded while it runs."""

import torch


def recorded(tensor: torch.Tensor, nodes: list) -> list:
    """The nodes in the order in which a backward from the tensor runs them; hooks record it and are removed, the graph
    is retained, and the gradients of the leaves are put back. Raises ValueError unless each node runs once."""
    ran, leaves = [], [node.variable for node in nodes if hasattr(node, "variable")]
    before = [leaf.grad for leaf in leaves]
    handles = [node.register_prehook(lambda _, node=node: ran.append(node)) for node in nodes]
    try:
        for leaf in leaves:
            leaf.grad = None
        # A gradient that is given makes torch import sympy, which takes half a second.
        tensor.backward(None if tensor.numel() == 1 else torch.ones_like(tensor), retain_graph=True)
    finally:
        for handle in handles:
            handle.remove()
        for leaf, grad in zip(leaves, before):
            leaf.grad = grad
    if len(ran) != len(nodes) or set(ran) != set(nodes):
        raise ValueError(f"each of {len(nodes)} nodes must run once, and {len(ran)} ran")
    return ran
