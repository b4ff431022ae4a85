"""A sparse tensor is tensors about a tensor: they may disagree until somebody checks, and they cost memory too."""

import warnings

import torch

warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")

# --8<-- [start:coalesce]
indices = torch.tensor([[0, 2, 0, 2], [1, 0, 1, 3]])
s = torch.sparse_coo_tensor(indices, torch.tensor([1.0, 2, 3, 4]), (3, 4), check_invariants=True)
c = s.coalesce()
print("entries:", s._nnz(), "then", c._nnz(), "at", list(zip(*c.indices().tolist())))
assert torch.equal(s.to_dense(), c.to_dense()) and c.values().tolist() == [4, 2, 4]
try:
    s.values()
except RuntimeError as error:
    print(error)
else:
    raise AssertionError("which of the two values at (0, 1) would it be?")

by_parts = torch.sparse_coo_tensor(s._indices(), s._values().square(), s.shape, check_invariants=True)
print("4 squared by parts:", by_parts.to_dense()[0, 1].item(), " coalesced:", s.square().to_dense()[0, 1].item())
assert torch.equal(s.square().to_dense(), s.to_dense().square())
assert torch.equal(s @ torch.eye(4), s.to_dense()), "a sum over parts may use them as they are"
# --8<-- [end:coalesce]


# --8<-- [start:invariants]
def refusal(make, *parts, checked):
    try:
        make(*map(torch.tensor, parts), (3, 4), check_invariants=checked)
    except RuntimeError as error:
        return str(error)


BROKEN = [
    (torch.sparse_coo_tensor, [[0, 3], [0, 0]], [1.0, 2.0]),
    (torch.sparse_coo_tensor, [[0, -1], [0, 0]], [1.0, 2.0]),
    (torch.sparse_csr_tensor, [1, 1, 1, 2], [0, 1], [1.0, 2.0]),
    (torch.sparse_csr_tensor, [0, 2, 1, 2], [0, 1], [1.0, 2.0]),
    (torch.sparse_csr_tensor, [0, 2, 2, 2], [1, 0], [1.0, 2.0]),
    (torch.sparse_csr_tensor, [0, 1, 1, 2], [0, 4], [1.0, 2.0]),
]
print("\nnobody checks unless asked:")
for make, *parts in BROKEN:
    print("-", refusal(make, *parts, checked=True)[:74])
    assert refusal(make, *parts, checked=False) is None
assert not torch.sparse.check_sparse_tensor_invariants.is_enabled()
# --8<-- [end:invariants]


# --8<-- [start:cost]
def parts(x):
    if x.layout == torch.sparse_coo:
        return [x.indices(), x.values()]
    return [x.crow_indices(), x.col_indices(), x.values()] if x.layout == torch.sparse_csr else [x]


def cost(x):
    return sum(part.nbytes for part in parts(x))


n = 200
print(f"\nbytes of {n} x {n} float32\n{'filled':>8} {'dense':>8} {'COO':>8} {'CSR':>8}")
for percent in (1, 10, 20, 33, 50):
    count = n * n * percent // 100
    dense = torch.zeros(n * n)
    dense[torch.arange(count) * (n * n) // count] = 1
    dense = dense.reshape(n, n)
    coo, csr = dense.to_sparse(), dense.to_sparse_csr()
    print(f"{percent:7}% {cost(dense):8} {cost(coo):8} {cost(csr):8}")
    assert cost(coo) == count * (8 + 8 + 4) and cost(csr) == count * (8 + 4) + (n + 1) * 8
    assert torch.equal(coo.to_dense(), dense) and torch.equal(csr.to_dense(), dense)
    assert (cost(coo) < cost(dense)) == (percent < 20) and (cost(csr) < cost(dense)) == (percent < 33)
# --8<-- [end:cost]
