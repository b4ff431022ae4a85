"""A tensor: a storage, and where in it the elements are (c10/core/TensorImpl.h, torch/_tensor.py)."""

import math
from types import SimpleNamespace

import numpy as np

from .dispatch import key_set, tls
from .storage import TORCH_CHECK

KEYS = {d: key_set(k, "ADInplaceOrView", f"Autograd{k}") for d, k in (("cpu", "CPU"), ("meta", "Meta"))}


class Size(tuple):
    def __repr__(self):
        return f"torch.Size({list(self)})"


def row_major(sizes):
    """The strides of a contiguous tensor."""
    return tuple(math.prod(max(n, 1) for n in sizes[d + 1 :]) for d in range(len(sizes)))


class Tensor:
    _grad_fn = _base = _grad_accumulator = grad = None
    _requires_grad, _attr_version = False, 0

    def __init__(self, storage, dtype, sizes, strides, storage_offset=0):
        self.storage, self.dtype, self.device, self.key_set = storage, dtype, storage.device, KEYS[storage.device]
        self.shape, self.strides, self.offset = Size(sizes), tuple(strides), storage_offset
        self.version_counter = SimpleNamespace(version=0)  # shared with views; each in-place operation adds one

    def array(self):
        """The elements as a NumPy array on the same memory. By its interface the array keeps the tensor."""
        TORCH_CHECK(self.device == "cpu", "Cannot copy out of meta tensor; no data!", NotImplementedError)
        TORCH_CHECK(not tls.modes, "a trace of toytorch reads no elements", NotImplementedError)
        return np.asarray(self)

    @property
    def __array_interface__(self):
        strides, data = tuple(self.dtype.numpy.itemsize * step for step in self.strides), (self.data_ptr(), False)
        return {"shape": self.shape, "typestr": self.dtype.numpy.str, "strides": strides, "data": data, "version": 3}

    def numpy(self):
        said = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        TORCH_CHECK(not self.requires_grad, said)
        return self.array()

    def item(self):
        TORCH_CHECK(self.numel() == 1, f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        return self.array().item()

    def __bool__(self):
        return bool(self.item())

    def dim(self):
        return len(self.shape)

    def numel(self):
        return math.prod(self.shape)

    def stride(self):
        return self.strides

    def storage_offset(self):
        return self.offset

    def untyped_storage(self):
        return self.storage

    def data_ptr(self):
        return self.storage.data_ptr() + self.offset * self.dtype.numpy.itemsize

    def is_contiguous(self):
        steps = zip(self.shape, self.strides, row_major(self.shape))
        return not self.numel() or all(n == 1 or mine == step for n, mine, step in steps)

    @property
    def _version(self):
        return self.version_counter.version

    @property
    def grad_fn(self):
        stale = self._base is not None and self._attr_version != self._version and self._base.requires_grad
        TORCH_CHECK(not stale, "toytorch has no node for a view whose base was modified", NotImplementedError)
        return self._grad_fn

    @property
    def requires_grad(self):
        return self._requires_grad or self.grad_fn is not None

    def requires_grad_(self, requires_grad=True):
        floating = self.dtype.is_floating_point or not requires_grad
        TORCH_CHECK(floating, "only Tensors of floating point dtype can require gradients")
        self._requires_grad = requires_grad
        return self

    def __repr__(self):
        if self.device == "meta":
            return f"tensor(..., device='meta', size={tuple(self.shape)})"
        text = np.array2string(self.array(), precision=4, separator=", ", prefix="tensor(")
        grad = f", grad_fn=<{self.grad_fn.name()}>" if self.grad_fn else ", requires_grad=True" * self._requires_grad
        return f"tensor({text}{grad})"
