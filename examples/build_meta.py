"""Shapes without data: on meta the same call runs other kernels, which compute sizes and nothing else."""

# --8<-- [start:program]
import toytorch as torch

batch = torch.zeros(8, 10**6, device="meta")
weight = torch.zeros(10**6, 10**9, device="meta")
print((batch @ weight).relu())
for device in ("cpu", "meta"):
    try:
        torch.zeros(8, 3, device=device) @ torch.zeros(4, 2, device=device)
    except RuntimeError as error:
        print(f"{device:4} {error}")
assert (batch @ weight).data_ptr() == 0
# --8<-- [end:program]
