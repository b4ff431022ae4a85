# says: The largest were made by
"""Replaces one of four steps."""

import weakref

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.nn.functional import linear, softmax


class Box:
    """Lives as long as the node that holds it."""

    def __init__(self, tensor):
        self.tensor = tensor.detach()


def saved_bytes(run, parameters):
    boxes = weakref.WeakSet()

    def pack(tensor):
        box = Box(tensor)
        boxes.add(box)
        return box

    with saved_tensors_hooks(pack, lambda box: box.tensor):
        result = run()
    held = {}
    for box in boxes:
        storage = box.tensor.untyped_storage()
        held[storage.data_ptr()] = storage.nbytes()
    for p in parameters:
        held.pop(p.untyped_storage().data_ptr(), None)
    del result
    return sum(held.values())


def block(p, x):
    centred = x - x.mean(-1, keepdim=True)
    h = centred / ((centred**2).mean(-1, keepdim=True) + 1e-5).sqrt()
    h = h * p["scale"] + p["shift"]
    h = linear(h, p["w1"], p["b1"])
    h = 0.5 * h * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (h + 0.044715 * h**3)))
    return softmax(linear(h, p["w2"]), -1)
