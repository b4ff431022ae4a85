"""Count the bytes held for backward, then halve them in a block."""

import torch


def saved_bytes(run, parameters):
    """The bytes held for backward while the result of run() is alive.

    Each storage counts once, with all its bytes, even if only a part of it
    was saved. The storages of the parameters do not count. run() may also
    compute what it does not return: what that saved is freed when run()
    returns, and does not count either.
    """
    raise NotImplementedError("write saved_bytes")


def block(p, x):
    """Rewrite this with the same results and gradients.

    Hold at most half the bytes, and do no matrix product twice.
    """
    centred = x - x.mean(-1, keepdim=True)
    h = centred / ((centred**2).mean(-1, keepdim=True) + 1e-5).sqrt()
    h = (h * p["scale"] + p["shift"]) @ p["w1"].t() + p["b1"]
    inner = (2 / torch.pi) ** 0.5 * (h + 0.044715 * h**3)
    h = 0.5 * h * (1 + torch.tanh(inner))
    h = h @ p["w2"].t()
    return h.exp() / h.exp().sum(-1, keepdim=True)


if __name__ == "__main__":
    p = {
        "scale": torch.randn(32),
        "shift": torch.randn(32),
        "w1": torch.randn(128, 32),
        "b1": torch.randn(128),
        "w2": torch.randn(16, 128),
    }
    p = {name: t.mul(0.1).requires_grad_() for name, t in p.items()}
    x = torch.randn(64, 32, requires_grad=True)
    try:
        held = saved_bytes(lambda: block(p, x), p.values())
        print("held for backward:", held, "bytes")
    except NotImplementedError as missing:
        print("not written yet:", missing)
