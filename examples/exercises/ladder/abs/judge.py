"""Compare abs of toytorch with torch's, on both devices: dtype, device, sizes, elements, and what became of x."""

from check import compare
from ladder.rungs import both, values

CASES = (
    ([-1.5, 2.0], "cpu"),
    ([[-1.0, 2.0], [3.0, -4.0]], "cpu"),
    ([-3, 4, 0], "cpu"),
    ([-1.5, 2.0], "meta"),
    ([[-3], [4]], "meta"),
)
NOTHING = "no elements"


def ask(torch, data, device):
    x = torch.tensor(data, device=device)
    y = torch.abs(x)
    elements = [NOTHING if one.device != x.device or device == "meta" else values(one) for one in (y, x)]
    return str(y.dtype).removeprefix("torch."), str(y.device), y.shape, *elements


def changed(**fields):
    """What comes when some parts of the answer are made from the right ones in another way."""
    names = "dtype", "device", "shape", "y", "x"

    def rival(*case):
        right = dict(zip(names, RIGHT(*case)))
        return tuple(fields.get(name, lambda right: right[name])(right) for name in names)  # noqa: B023

    return rival


MINE, RIGHT = both(ask)
IDEAS = {
    "You may have made every result float32. abs keeps the dtype: integers stay integers.": changed(
        dtype=lambda right: "float32"
    ),
    "You may have written into x. abs is not an in-place operator (that one would be abs_), so x keeps its signs and "
    "the result gets memory of its own.": changed(x=lambda right: right["y"]),
    "You may have left the device out. A tensor made without a device lies on the CPU, but the result of an operator "
    "lies where its input lies.": changed(device=lambda right: "cpu"),
    "You may have returned x as it came. The elements keep their signs in your answer.": changed(
        y=lambda right: right["x"]
    ),
}


def check(work):
    otherwise = "The answer is the dtype, device, sizes and elements of the result, and the elements of x afterwards."
    compare("abs", CASES, MINE, RIGHT, IDEAS, otherwise)
