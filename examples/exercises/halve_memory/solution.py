"""Operators that keep their input or their result and little else, in place of many that keep each step."""

import weakref

from torch.autograd.graph import saved_tensors_hooks
from torch.nn.functional import gelu, layer_norm, linear, softmax


class Box:
    """Lives as long as the node that holds it."""

    def __init__(self, tensor):
        self.tensor = tensor.detach()  # without a path back to the node


def saved_bytes(run, parameters):
    boxes = weakref.WeakSet()

    def pack(tensor):
        box = Box(tensor)
        boxes.add(box)
        return box

    with saved_tensors_hooks(pack, lambda box: box.tensor):
        result = run()  # alive until everything is counted
    held = {}
    for box in boxes:
        storage = box.tensor.untyped_storage()
        held[storage.data_ptr()] = storage.nbytes()
    for p in parameters:
        held.pop(p.untyped_storage().data_ptr(), None)
    del result
    return sum(held.values())


def block(p, x):
    h = layer_norm(x, x.shape[-1:], p["scale"], p["shift"])
    h = linear(h, p["w1"], p["b1"])
    h = gelu(h, approximate="tanh")
    return softmax(linear(h, p["w2"]), -1)
