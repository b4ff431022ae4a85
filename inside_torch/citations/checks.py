"""Programs that raise a C++ error, by the name that `src:check#NAME` cites: the error reports its own line.

They share one interpreter: a program leaves nothing behind and needs no import of torch.
"""

CHECKS = {
    "as_strided-outside": "torch.arange(6).as_strided((4, 3), (1, 1), 1)",
    "inference-version": """
with torch.inference_mode():
    x = torch.ones(1)
x._version
""",
    "internal-overlap": "torch.zeros(3, 1).expand(3, 4).add_(1)",
    "view-across-groups": "torch.arange(12).reshape(3, 4)[:, 1:].view(9)",
}
