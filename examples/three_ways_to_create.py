"""Three ways to one tensor: tensor() copies, as_tensor() shares where it can, from_numpy() shares or refuses."""

import array
import warnings

import numpy as np
import torch

WAYS = {"tensor": torch.tensor, "as_tensor": torch.as_tensor, "from_numpy": torch.from_numpy}
SOURCES = {
    "list": [1.0, 2.0, 3.0],
    "array.array": array.array("f", [1, 2, 3]),
    "float64 array": np.array([1.0, 2.0, 3.0]),
    "float32 array": np.array([1, 2, 3], np.float32),
    "every second": np.array([1.0, 0, 2, 0, 3, 0])[::2],
    "reversed": np.array([3.0, 2.0, 1.0])[::-1],
    "NumPy number": np.float64(1.0),
    "tensor": torch.tensor([1.0, 2.0, 3.0]),
}


# --8<-- [start:compare]
def made(make, data):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "To copy construct from a tensor")  # tensor(tensor) would rather be clone()
        try:
            return make(data)
        except (TypeError, ValueError) as error:
            return error


def shares(x, data):
    """Whether a write through the tensor reaches what it was made from."""
    if not hasattr(data, "tolist") or x.dim() == 0:
        return False
    before, first = data.tolist(), x[0].item()
    x[0] = -1
    reached = data.tolist() != before
    x[0] = first
    return reached


table = {}
print(f"{'':14} tensor          as_tensor       from_numpy")
for name, data in SOURCES.items():
    tensors = {way: made(make, data) for way, make in WAYS.items()}
    for way, x in tensors.items():
        dtype = "" if isinstance(x, Exception) else str(x.dtype).removeprefix("torch.")
        said = "shares" if dtype and shares(x, data) else "copies"
        table[name, way] = f"{said} {dtype}" if dtype else type(x).__name__
    print(f"{name:14}", " ".join(f"{table[name, way]:15}" for way in WAYS).rstrip())
    equal = [x for x in tensors.values() if not isinstance(x, Exception)]
    assert all(torch.equal(x, equal[0]) for x in equal)
# --8<-- [end:compare]

# --8<-- [start:claims]
assert not any(table[name, "tensor"].startswith("shares") for name in SOURCES)
assert not any(table[name, "from_numpy"].startswith("copies") for name in SOURCES)
assert table["list", "tensor"] == "copies float32", "a Python float becomes the default dtype"
assert table["float64 array", "tensor"] == "copies float64", "a NumPy float keeps its own"

data = np.arange(3.0)
x = torch.as_tensor(data)
assert x.data_ptr() == data.ctypes.data
assert torch.as_tensor(data, dtype=torch.float32).data_ptr() != data.ctypes.data, "another dtype needs other bytes"
w = torch.ones(2, requires_grad=True)
assert torch.as_tensor(w) is w
# --8<-- [end:claims]
