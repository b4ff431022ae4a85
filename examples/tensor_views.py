"""A view is a start and steps: differences of addresses put every element where its strides say."""

import itertools

import torch

# --8<-- [start:addresses]
x = torch.arange(24.0).reshape(2, 3, 4)
VIEWS = {
    "x": x,
    "x[1]": x[1],
    "x[:, 1:, ::2]": x[:, 1:, ::2],
    "x.permute(2, 0, 1)": x.permute(2, 0, 1),
    "x[0].diagonal()": x[0].diagonal(),
    "x.unfold(2, 2, 1)": x.unfold(2, 2, 1),
    "x[0, 0].expand(3, 4)": x[0, 0].expand(3, 4),
    "x.view(torch.int16)": x.view(torch.int16),
}
home = x.untyped_storage().data_ptr()


def steps(y):
    """The bytes from the first element to its neighbour along each dimension, measured."""
    first = (0,) * y.dim()
    ahead = [tuple(int(d == moved) for d in range(y.dim())) for moved in range(y.dim())]
    return [y[index].data_ptr() - y[first].data_ptr() for index in ahead]


print("bytes after x starts, and to the next element along each dimension:")
for name, y in VIEWS.items():
    assert y.untyped_storage().data_ptr() == home
    print(f"{name:21} {y.data_ptr() - home:3}  {steps(y)}")
    size = y.element_size()
    assert y.data_ptr() - home == y.storage_offset() * size
    assert steps(y) == [stride * size for stride in y.stride()]
    for index in itertools.product(*map(range, y.shape)):
        inside = sum(i * stride for i, stride in zip(index, y.stride()))
        assert y[index].data_ptr() == y.data_ptr() + inside * size
# --8<-- [end:addresses]


# --8<-- [start:overlap]
def cells(y):
    """The storage positions that a tensor reads, one for each of its elements."""
    ranges = [range(0, n * s, s) if s else [0] * n for n, s in zip(y.shape, y.stride())]
    return [y.storage_offset() + sum(steps) for steps in itertools.product(*ranges)]


for name in ("x.unfold(2, 2, 1)", "x[0, 0].expand(3, 4)"):
    print(f"{name} has {len(cells(VIEWS[name]))} elements in {len(set(cells(VIEWS[name])))} cells")
left, right = x[..., :2], x[..., 2:]
assert left.untyped_storage().data_ptr() == right.untyped_storage().data_ptr()
assert not set(cells(left)) & set(cells(right)), "one storage, and no element in common"
before = right.clone()
left.zero_()
assert torch.equal(right, before)
# --8<-- [end:overlap]

# --8<-- [start:copies]
flat = x.permute(2, 0, 1)
for copy in (flat.reshape(-1), x[[0, 1]], x[x > 5], flat.contiguous(), x + 0, x.clone()):
    assert copy.untyped_storage().data_ptr() != home and copy._base is None
for view in (x.reshape(-1), x[0:1], x.contiguous(), flat.permute(1, 2, 0).reshape(-1)):
    assert view.untyped_storage().data_ptr() == home
# --8<-- [end:copies]
