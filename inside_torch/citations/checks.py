"""Programs that raise a C++ error, by the name that `src:check#NAME` cites: the error reports its own line.

They share one interpreter, which has imported torch; `w` is a leaf, and `y` is made of it, both new for each program.
"""

CHECKS = {
    "addmm-booleans": "torch.addmm(*[torch.ones(2, 2) > 0] * 3)",
    "as_strided-outside": "torch.arange(6).as_strided((4, 3), (1, 1), 1)",
    "backward-twice": "y.sum().backward(); y.mean().backward()",
    "batch-sizes": "torch.nn.functional.cross_entropy(torch.ones(16, 2), torch.zeros(8).long())",
    "boolean-value": "bool(torch.ones(8) == 1)",
    "broadcast-mismatch": "torch.ones(8, 2) * torch.ones(8)",
    "cast-in-place": "torch.arange(3).add_(0.5)",
    "cat-sizes": "torch.cat([torch.ones(2, 3), torch.ones(2, 4)])",
    "embedding-range": "torch.nn.Embedding(3, 2)(torch.tensor([1, 3]))",
    "grad-of-another-shape": "torch.zeros(5, 3, requires_grad=True).grad = torch.zeros(3, 5)",
    "index-dtype": "torch.arange(3)[torch.tensor([0.0, 1.0])]",
    "inference-saved": "w * torch.inference_mode()(torch.ones)(2)",
    "inference-version": "torch.inference_mode()(torch.ones)(1)._version",
    "integer-grad": "torch.tensor([1, 2], requires_grad=True)",
    "internal-overlap": "torch.zeros(3, 1).expand(3, 4).add_(1)",
    "invalid-gradient": """
class Wrong(torch.autograd.Function):
    forward = staticmethod(lambda ctx, x: x.sum())
    backward = staticmethod(lambda ctx, grad: grad.expand(2, 2))
Wrong.apply(torch.ones(3, requires_grad=True)).backward()
""",
    "leaf-in-place": "w.sub_(0.1)",
    "leaf-view-in-place": "w[0].zero_()",
    "linear-dtypes": "torch.nn.functional.linear(torch.ones(2, 2).double(), torch.ones(1, 2), torch.ones(1))",
    "matmul-dtypes": "torch.nn.Linear(2, 2)(torch.ones(1, 2, dtype=torch.float64))",
    "matmul-shapes": "torch.nn.Linear(5, 2)(torch.ones(8, 4))",
    "mean-of-integers": "torch.arange(4).mean()",
    "meta-copy": "torch.ones(2, device='meta').to('cpu')",
    "modified-in-place": "y = torch.ones(8, 4, requires_grad=True).relu(); y.add_(1); y.sum().backward()",
    "negative-step": "torch.arange(3)[::-1]",
    "no-grad_fn": "w.sum().detach().backward()",
    "numpy-of-leaf": "torch.ones(3, requires_grad=True).numpy()",
    "sizes-of-a-sum": "torch.ones(8) + torch.ones(3)",
    "split-in-place": "y.split(1)[0].mul_(10)",
    "stack-sizes": "torch.stack([torch.ones(3), torch.ones(4)])",
    "target-dtype": "torch.nn.functional.cross_entropy(torch.ones(8, 2), torch.zeros(8))",
    "target-range": "torch.nn.functional.cross_entropy(torch.ones(8, 2), torch.full((8,), 2))",
    "unused-input": "torch.autograd.grad(y.sum(), [w, torch.ones(2, requires_grad=True)])",
    "view-across-groups": "torch.arange(12).reshape(3, 4)[:, 1:].view(9)",
    "view-of-no-grad": "torch.no_grad()(y.__getitem__)(slice(1)).mul_(2)",
    "wrong-numel": "torch.ones(8, 3).reshape(4, 5)",
}
