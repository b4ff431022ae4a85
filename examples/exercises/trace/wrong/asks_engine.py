# says: runs a backward pass and watches it
"""Lets the engine run, and notes what it does."""

import torch


def route(loss, x):
    ran, nodes = [], [loss.grad_fn]
    for node in nodes:
        nodes += [after for after, _ in node.next_functions if after is not None and after not in nodes]
        node.register_prehook(lambda _, node=node: ran.append(node))
    torch.autograd.grad(loss, x, retain_graph=True, allow_unused=True)
    return ran
