"""A tensor is a storage, and where in it the elements are (c10/core/TensorImpl.h, torch/_tensor.py)."""

import math
from types import SimpleNamespace
from weakref import WeakSet

import numpy as np

from .dispatch import DispatchKeySet, tls

bool_, int64, float32 = np.dtype("bool"), np.dtype("int64"), np.dtype("float32")
NAMES = {bool_: "Bool", int64: "Long", float32: "Float"}  # in messages
# The keys of a tensor, by its device. What each does is told in dispatch.py and derivatives.py.
KEYS = {key.lower(): DispatchKeySet(key, "ADInplaceOrView", f"Autograd{key}") for key in ("CPU", "Meta")}


def TORCH_CHECK(condition, message, error=RuntimeError):
    if not condition:
        raise error(message)


class Tensor:  # operators are methods as well: publish in __init__.py puts them here
    grad_fn = grad = _base = None  # _base: what a view is a view of; inplace_or_view sets it, check_inplace reads it
    _requires_grad, _grad_accumulator = False, type(None)  # a call of it gives None, as of a dead weak reference
    __array_priority__ = 1000  # in np.float32(2) * x, too, the operator is ours

    def __init__(self, storage, dtype, sizes, strides, storage_offset=0):
        self.storage, self.device, self.key_set = storage, storage.device, KEYS[storage.device]
        self.dtype, self.shape, self.strides, self.offset = dtype, tuple(sizes), tuple(strides), storage_offset
        # version counts writes, for SavedVariable; views holds the living views, for check_inplace. A view shares both.
        self.version_counter = SimpleNamespace(version=0, views=WeakSet())

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
        return self.storage.data_ptr() + self.offset * self.dtype.itemsize

    @property
    def __array_interface__(self):
        """What NumPy asks for, also in `array[...] = x`. Its array lies on the same memory, and keeps the tensor."""
        TORCH_CHECK(not tls.modes, "a trace of toytorch reads no elements", NotImplementedError)
        TORCH_CHECK(self.device == "cpu", "Cannot copy out of meta tensor; no data!", NotImplementedError)
        strides = tuple(self.dtype.itemsize * step for step in self.strides)
        data = self.data_ptr(), False  # where it lies, and that it may be written to
        return {"version": 3, "shape": self.shape, "typestr": self.dtype.str, "strides": strides, "data": data}

    def array(self):
        return np.asarray(self)

    def numpy(self):
        said = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        TORCH_CHECK(not self.requires_grad, said)
        return self.array()

    def item(self):
        TORCH_CHECK(self.numel() == 1, f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        return self.array().item()

    def __bool__(self):
        return bool(self.item())

    @property
    def _version(self):
        return self.version_counter.version

    @property
    def requires_grad(self):
        return self._requires_grad or self.grad_fn is not None

    def requires_grad_(self, requires_grad=True):
        allowed = self.dtype == float32 or not requires_grad
        TORCH_CHECK(allowed, "only Tensors of floating point dtype can require gradients")
        TORCH_CHECK(requires_grad or not self.grad_fn, "you can only change requires_grad flags of leaf variables.")
        self._requires_grad = requires_grad and not self.grad_fn
        return self

    def __deepcopy__(self, memo):
        raise NotImplementedError("toytorch makes no deep copies of tensors; clone() copies one")

    def __repr__(self):
        if self.device == "meta":
            return f"tensor(..., device='meta', size={self.shape})"
        text = np.array2string(self.array(), precision=4, separator=", ", prefix="tensor(")
        flag = ", requires_grad=True" if self._requires_grad else ""
        grad = f", grad_fn=<{self.grad_fn.name()}>" if self.grad_fn else flag
        return f"tensor({text}{grad})"
