# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The tour
#
# Numbers go through PyTorch, and a gradient comes back. This page is a notebook: its cells share one Python, and the build
# runs them from the top. On all other pages a block that runs, runs alone.

# %% [markdown]
# ## A tensor is a view of memory
#
# Six numbers lie in one row of memory. The tensor says how to read them as two rows of three.

# %%
import torch

x = torch.arange(6.0).reshape(2, 3)
print(x)
print("strides:", x.stride())

# %% [markdown]
# Transposing moves no number. It swaps the two strides.

# %%
print("strides:", x.t().stride())
print("same memory:", x.t().data_ptr() == x.data_ptr())

# %% [markdown]
# ## Forward leaves a trail
#
# When a tensor asks for a gradient, an operation on it leaves a node that knows how to go back.

# %%
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
loss = (x @ w).square().sum()
node = loss.grad_fn
while node is not None:
    print(node.name())
    node = node.next_functions[-1][0] if node.next_functions else None

# %% [markdown]
# ## Backward follows it
#
# The gradient that arrives is the one we get by hand: twice the transposed matrix times its product.

# %%
loss.backward()
print(w.grad)
assert torch.equal(w.grad, 2 * x.t() @ (x @ w.detach()))

# %% [markdown]
# ## Where to go on
#
# [Tensor](tensor.html) takes the first of these steps apart: storage, strides, views.
