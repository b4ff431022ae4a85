"""Programs that raise a C++ error, by the name that `src:check#NAME` cites: the error reports its own line.

They share one interpreter: a program leaves nothing behind and needs no import of torch.
"""

CHECKS = {
    "as_strided-outside": "torch.arange(6).as_strided((4, 3), (1, 1), 1)",
    "backward-twice": """
w = torch.ones(2, requires_grad=True)
y = w.exp()
y.sum().backward()
y.mean().backward()
""",
    "broadcast-mismatch": "torch.ones(2, 3) * torch.ones(2)",
    "cast-in-place": "torch.arange(3).add_(0.5)",
    "cat-sizes": "torch.cat([torch.ones(2, 3), torch.ones(2, 4)])",
    "embedding-range": "torch.nn.Embedding(3, 2)(torch.tensor([1, 3]))",
    "grad-of-another-shape": "torch.zeros(5, 3, requires_grad=True).grad = torch.zeros(3, 5)",
    "hooks-twice": """
w = torch.ones(2, requires_grad=True)
y = w.exp()
saved = y.grad_fn._raw_saved_result
saved.register_hooks(lambda x: x, lambda x: x)
saved.register_hooks(lambda x: x, lambda x: x)
""",
    "index-dtype": "torch.arange(3)[torch.tensor([0.0, 1.0])]",
    "inference-saved": """
with torch.inference_mode():
    x = torch.ones(2)
torch.ones(2, requires_grad=True) * x
""",
    "inference-version": """
with torch.inference_mode():
    x = torch.ones(1)
x._version
""",
    "integer-grad": "torch.tensor([1, 2], requires_grad=True)",
    "internal-overlap": "torch.zeros(3, 1).expand(3, 4).add_(1)",
    "invalid-gradient": """
class Wrong(torch.autograd.Function):
    forward = staticmethod(lambda ctx, x: x.sum())
    backward = staticmethod(lambda ctx, grad: grad.expand(2, 2))
Wrong.apply(torch.ones(3, requires_grad=True)).backward()
""",
    "leaf-in-place": "torch.ones(2, requires_grad=True).sub_(0.1)",
    "leaf-view-in-place": "torch.ones(2, requires_grad=True)[0].zero_()",
    "linear-dtypes": "torch.nn.functional.linear(torch.ones(2, 2).double(), torch.ones(1, 2), torch.ones(1))",
    "matmul-dtypes": "torch.nn.Linear(2, 2)(torch.ones(1, 2, dtype=torch.float64))",
    "matmul-shapes": "torch.nn.Linear(3, 5)(torch.ones(4, 2))",
    "mean-of-integers": "torch.arange(4).mean()",
    "meta-copy": "torch.ones(2, device='meta').to('cpu')",
    "modified-in-place": """
w = torch.ones(2, requires_grad=True)
y = w.exp()
y.add_(1)
y.sum().backward()
""",
    "negative-step": "torch.arange(3)[::-1]",
    "no-grad_fn": "torch.ones(2, requires_grad=True).sum().detach().backward()",
    "numpy-of-leaf": "torch.ones(3, requires_grad=True).numpy()",
    "resize-requires-grad": "torch.ones(4, requires_grad=True).resize_(2)",
    "sizes-of-a-sum": "torch.ones(8) + torch.ones(3)",
    "split-in-place": """
x = torch.ones(4, requires_grad=True) * 1
x.split(2)[0].mul_(10)
""",
    "unused-input": """
w, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
torch.autograd.grad(w.sum(), [w, v])
""",
    "view-across-groups": "torch.arange(12).reshape(3, 4)[:, 1:].view(9)",
    "view-of-no-grad": """
x = torch.ones(4, requires_grad=True) * 1
with torch.no_grad():
    y = x[:2]
y.mul_(2)
""",
    "wrong-numel": "torch.arange(6).reshape(4)",
}
