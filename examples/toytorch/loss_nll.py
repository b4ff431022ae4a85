"""The negative log likelihood (aten/src/ATen/native/LossNLL.cpp)."""

import numpy as np

from .reduce_ops import structured
from .storage import TORCH_CHECK


def picked(target, weight, ignore_index, classes):
    """The class that each row picks, and the weight of the row: 0 where its target is ignored."""
    kept = target != ignore_index
    index = np.where(kept, target, 0)
    for wrong in index[(index < 0) | (index >= classes)]:
        raise IndexError(f"Target {wrong} is out of bounds.")
    return index, kept * (1.0 if weight is None else weight[index])


@structured
def nll_loss(self, target, weight=None, reduction="mean", ignore_index=-100):
    rows = [*self.shape[:1], *target.shape[:1]]
    said = f"Expected input batch_size ({rows[0]}) to match target batch_size ({rows[-1]})."
    TORCH_CHECK(self.dim() == 1 or rows[0] == rows[-1], said, ValueError)

    def impl(a, target, weight=None):
        axis = min(1, a.ndim - 1)
        index, w = picked(target, weight, ignore_index, a.shape[axis])
        loss = -w * np.take_along_axis(a, np.expand_dims(index, axis), axis).reshape(w.shape)
        return loss if reduction == "none" else loss.sum() / (w.sum() if reduction == "mean" else 1)

    return target.shape if reduction == "none" else (), self.dtype, impl


@structured
def nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index):
    def impl(grad, a, target, weight=None):
        axis, out = min(1, a.ndim - 1), np.zeros_like(a)
        index, w = picked(target, weight, ignore_index, a.shape[axis])
        grad = -grad * w / (w.sum() if reduction == "mean" else 1)
        np.put_along_axis(out, np.expand_dims(index, axis), np.expand_dims(grad, axis), axis)
        return out

    return self.shape, self.dtype, impl
