"""An update rule takes weight, gradient and memory to the next weight; written by hand, seven agree with torch's."""

import torch


def sgd(w, g, s, lr=0.1, momentum=0.9, nesterov=False):
    s["buf"] = momentum * s["buf"] + g if "buf" in s else g
    return w - lr * (g + momentum * s["buf"] if nesterov else s["buf"])


def adagrad(w, g, s, lr=0.1, eps=1e-10):
    s["sum"] = s.get("sum", 0) + g**2
    return w - lr * g / (s["sum"].sqrt() + eps)


def rmsprop(w, g, s, lr=0.1, alpha=0.99, eps=1e-8):
    s["avg"] = alpha * s.get("avg", 0) + (1 - alpha) * g**2
    return w - lr * g / (s["avg"].sqrt() + eps)


# --8<-- [start:adam]
def adam(w, g, s, lr=0.1, b1=0.9, b2=0.999, eps=1e-8, wd=0.0, apart=False):
    if apart:
        w = w * (1 - lr * wd)
    else:
        g = g + wd * w
    s["step"] = t = s.get("step", 0) + 1
    s["m"] = b1 * s.get("m", 0) + (1 - b1) * g
    s["v"] = b2 * s.get("v", 0) + (1 - b2) * g**2
    m, v = s["m"] / (1 - b1**t), s["v"] / (1 - b2**t)
    return w - lr * m / (v.sqrt() + eps)


# --8<-- [end:adam]
def orthogonal(g, coefficients=(3.4445, -4.775, 2.0315), steps=5):
    a, b, c = coefficients
    x = g.bfloat16()
    x = x.T if len(x) > x.size(1) else x
    x = x / x.norm()
    for _ in range(steps):
        gram = x @ x.T
        gram = torch.addmm(gram, gram, gram, beta=b, alpha=c)
        x = torch.addmm(x, gram, x, beta=a)
    return x.T if len(g) > g.size(1) else x


def muon(w, g, s, lr=0.1, momentum=0.95, decay=0.1):
    s["buf"] = momentum * s.get("buf", 0) + (1 - momentum) * g
    update = orthogonal((1 - momentum) * g + momentum * s["buf"]).to(w.dtype)
    shape = max(1, w.size(0) / w.size(1)) ** 0.5
    return w * (1 - lr * decay) - lr * shape * update


def lbfgs(w, g, s, lr=0.5):
    if not s:
        s["pairs"], d, t = [], -g, lr * min(1, 1 / g.abs().sum())
    else:
        y, moved = g - s["g"], s["t"] * s["d"]
        if (y * moved).sum() > 1e-10:
            s["pairs"].append((y, moved))
            s["scale"] = (y * moved).sum() / (y * y).sum()
        d, shares = -g, []
        for y, moved in reversed(s["pairs"]):
            shares.append((moved * d).sum() / (y * moved).sum())
            d = d - shares[-1] * y
        d, t = s["scale"] * d, lr
        for (y, moved), share in zip(s["pairs"], reversed(shares)):
            d = d + moved * (share - (y * d).sum() / (y * moved).sum())
    s.update(g=g, d=d, t=t)
    return w + t * d


x = torch.linspace(-2, 2, 20, dtype=torch.float64).reshape(5, 4).sin()
target = torch.linspace(-1, 1, 15, dtype=torch.float64).reshape(5, 3)
start = torch.linspace(1, -1, 12, dtype=torch.float64).reshape(4, 3)


def loss_of(w):
    return ((x @ w).tanh() - target).square().sum()


def compare(rule, settings, name, **theirs):
    w, state = start, {}
    p = torch.nn.Parameter(start.clone())
    optimizer = getattr(torch.optim, name)([p], **theirs)

    def closure():
        optimizer.zero_grad()
        loss = loss_of(p)
        loss.backward()
        return loss

    for step in range(30):
        leaf = w.requires_grad_()
        (g,) = torch.autograd.grad(loss_of(leaf), leaf)
        w = rule(w.detach(), g, state, **settings)
        optimizer.step(closure)
        assert torch.allclose(w, p, rtol=1e-12, atol=1e-12), (name, step)
    assert loss_of(p) < loss_of(start)


for kind in [{"foreach": False}, {"foreach": True}, {"fused": True}]:
    compare(sgd, {}, "SGD", lr=0.1, momentum=0.9, **kind)
    compare(sgd, {"nesterov": True}, "SGD", lr=0.1, momentum=0.9, nesterov=True, **kind)
    compare(adagrad, {}, "Adagrad", lr=0.1, **kind)
    compare(adam, {"wd": 0.3}, "Adam", lr=0.1, weight_decay=0.3, **kind)
    compare(adam, {"wd": 0.3, "apart": True}, "AdamW", lr=0.1, weight_decay=0.3, **kind)
compare(rmsprop, {}, "RMSprop", lr=0.1)
compare(muon, {}, "Muon", lr=0.1)
compare(lbfgs, {}, "LBFGS", lr=0.5, max_iter=1)
print("seven rules, thirty steps each, as in torch")
