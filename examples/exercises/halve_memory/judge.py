"""Hold saved_bytes against counts of another kind; then measure what the rewritten block leaves alive, and computes."""

import weakref

import torch
from check import Wrong, compare, tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode


class Code(str):
    """A program as it is written, for reports."""

    __repr__ = str.__str__


PROGRAMS = [
    "x.sin()",
    "x.exp()",
    "x * x",
    "x.sin() + x.cos()",
    "x @ w",
    "x @ w.t()",
    "x @ x.t()",
    "(x @ w).tanh() @ w.t()",
    "x[:2].sin()",
    "(x[0].exp() + x).sin()",
    "w[0].expand(32, 4) * x[0]",
    "x.sum(0).expand(50, 4) * x[0]",
    "x[:2].sin() + x[2:4].sin()",
    "x + x",
    "[x.exp().sin(), x.cos()][1]",
    "x.exp().detach() * x",
]


def prepared():
    torch.manual_seed(0)
    return torch.randn(8, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)


def count(measured, once=False, **mistake):
    """The bytes of one of PROGRAMS, or what a mistake makes of them; with `once`, a generator gives the parameter."""

    def counted(code):
        x, w = prepared()
        parameters = (p for p in [w]) if once else [w]
        return measured(lambda: eval(code, {"x": x, "w": w, "torch": torch}), parameters, **mistake)

    return counted


def right(run, parameters, each=False, known=True, views=False, gone=False, starts=False):
    class Box:
        tensor = None

    boxes, kept = weakref.WeakSet(), []

    def pack(tensor):
        box = Box()
        box.tensor = tensor.detach()
        boxes.add(box)
        kept.append(box if gone or each else None)
        return box

    with saved_tensors_hooks(pack, lambda box: box.tensor):
        result = run()
    left = list(boxes) if not (gone or each) else kept
    home = {p.untyped_storage().data_ptr() for p in parameters} if known else set()
    tensors = [box.tensor for box in left if box.tensor.untyped_storage().data_ptr() not in home]
    size = (lambda t: t.nbytes) if views else (lambda t: t.untyped_storage().nbytes())
    begins = (lambda t: t.data_ptr()) if starts else (lambda t: t.untyped_storage().data_ptr())
    sizes = {n if each else begins(t): size(t) for n, t in enumerate(tensors)}
    del result
    return sum(sizes.values())


IDEAS = {
    "You may have added up the calls of pack. Everything that was saved is added up, but the same memory is often "
    "saved twice, by two nodes or as two views. Count it once.": count(right, each=True, views=True),
    "You may have counted a storage for each tensor that was saved. The same memory is often saved twice. Count it "
    "once.": count(right, each=True),
    "You may have compared the addresses of tensors. Two views of one storage that begin at different elements were "
    "counted twice. Compare the addresses of their storages, `untyped_storage().data_ptr()`.": count(
        right, starts=True
    ),
    "You may have compared the saved tensors with the parameters as objects. The parameters are counted, because a "
    "product often saves a view of the weight, w.t(), which is another object. Compare the addresses of "
    "storages.": count(right, known=False),
    "You may have asked the tensors for their size. The bytes are those of the tensors, `nbytes`. But a saved row "
    "keeps its whole storage alive, and an expanded tensor has more elements than its storage. Ask "
    "`untyped_storage().nbytes()`.": count(right, views=True),
    "You may have kept the tensors in a list. What was saved for a result that is gone is counted too, because your "
    "list still holds it. Hold what pack returns weakly.": count(right, gone=True),
}


def original(p, x, detached=False):
    mean = x.mean(-1, keepdim=True)
    centred = x - (mean.detach() if detached else mean)
    spread = ((centred**2).mean(-1, keepdim=True) + 1e-5).sqrt()
    h = centred / (spread.detach() if detached else spread)
    h = (h * p["scale"] + p["shift"]) @ p["w1"].t() + p["b1"]
    h = 0.5 * h * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (h + 0.044715 * h**3)))
    h = h @ p["w2"].t()
    return h.exp() / h.exp().sum(-1, keepdim=True)


class Born(TorchDispatchMode):
    """Notes each storage that comes to be, and the operator that made it."""

    def __init__(self):
        super().__init__()
        self.storages = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for t in out if isinstance(out, tuple | list) else [out]:
            if isinstance(t, torch.Tensor):
                ref = StorageWeakRef(t.untyped_storage())
                self.storages.setdefault(ref.cdata, (ref, t.untyped_storage().nbytes(), func.overloadpacket.__name__))
        return out

    def alive(self, *but):
        """Bytes and operator of each storage that is still there, but for these tensors."""
        known = {t.untyped_storage()._cdata for t in but}
        found = [(n, name) for key, (ref, n, name) in self.storages.items() if key not in known and not ref.expired()]
        return sorted(found, reverse=True)


def inputs(batch=(64,)):
    torch.manual_seed(0)
    sizes = {"scale": (32,), "shift": (32,), "w1": (128, 32), "b1": (128,), "w2": (16, 128)}
    p = {name: torch.randn(size).mul(0.3).requires_grad_() for name, size in sizes.items()}
    return p, torch.randn(*batch, 32, requires_grad=True), torch.randn(*batch, 16)


def measured(function):
    """What a block leaves alive, and the floating-point operations of its products, forward and backward."""
    p, x, grad = inputs()
    born, flops = Born(), FlopCounterMode(display=False)
    with born:
        result = function(p, x)
    alive = born.alive(result, x, *p.values())
    with flops:
        torch.autograd.grad(function(p, x), [*p.values(), x], grad)
    return alive, flops.get_total_flops()


def check_gradients(work, batch=(64,)):
    p, x, grad = inputs(batch)
    result, expected = tensor(work.block(p, x)), original(p, x)
    if result.shape != expected.shape:
        raise Wrong(
            f"for x of shape {tuple(x.shape)} block returns a result of shape {tuple(result.shape)} instead of "
            f"{tuple(expected.shape)}"
        )
    if not torch.allclose(result, expected, atol=1e-5):
        alone = (
            ""
            if x.dim() == 2
            else (
                " With two dimensions they agree. The original works along the last dimension, however many there are."
            )
        )
        raise Wrong(
            f"for x of shape {tuple(x.shape)} block gives other results than the original; they differ by up to "
            f"{(result - expected).abs().max():.3g}.{alone}"
        )
    wanted = [*p.values(), x]
    mine = torch.autograd.grad(result, wanted, grad, allow_unused=True)
    expected = torch.autograd.grad(expected, wanted, grad)
    detached = torch.autograd.grad(original(p, x, detached=True), wanted, grad)
    for name, came, exact, cut in zip([*p, "x"], mine, expected, detached):
        if came is None:
            raise Wrong(f"{name} gets no gradient")
        distance = ((came - exact).norm() / exact.norm()).item()
        if distance < 1e-4:
            continue
        idea = ""
        if torch.allclose(came, cut, atol=1e-4):
            idea = (
                "You may have detached something. This is the gradient with mean and spread as constants, but both "
                "depend on x. Detaching saves memory and loses a part of the gradient."
            )
        elif distance < 0.03:
            idea = (
                "You may have saved less precise numbers. A difference of this size comes from rounding what is "
                "saved, as in bfloat16. The memory can be halved without rounding."
            )
        raise Wrong(f"the gradient of {name} differs from the original's by {distance:.2%}. {idea}")


def check_block(work):
    check_gradients(work)
    check_gradients(work, (4, 16))
    before, work_before = measured(original)
    after, work_after = measured(work.block)
    held, allowed = sum(n for n, _ in after), sum(n for n, _ in before) // 2
    if held > allowed:
        p, x, _ = inputs()
        seen = right(lambda: work.block(p, x), [*p.values(), x])
        idea = "The largest were made by " + ", ".join(f"{name} ({n})" for n, name in after[:6]) + "."
        if seen < held / 2:
            idea = (
                f"Hooks on saved tensors see only {seen} of them. The rest is hidden from them, on a ctx or behind "
                "other hooks, but hidden memory is held as well."
            )
        raise Wrong(
            f"when block has returned, {held} bytes that it allocated are still alive, besides its result. Allowed "
            f"are {allowed}, half of what the original leaves. {idea}"
        )
    if work_after > work_before:
        raise Wrong(
            f"the matrix products of forward and backward take {work_after} operations instead of {work_before}: "
            "some are done twice. You may have put a checkpoint around everything. Put it around what is cheap to "
            "compute, or choose operators that save less."
        )


def check(work):
    codes = [(Code(code),) for code in PROGRAMS]
    otherwise = "Expected is the memory that was saved and is still held, without that of w, the only parameter."
    compare("saved_bytes of ", codes, count(work.saved_bytes), count(right), IDEAS, otherwise)
    once = count(work.saved_bytes, once=True)
    if any(once(code) != count(right)(code) for code in PROGRAMS * 3):
        raise Wrong(
            "saved_bytes is right when the parameters are a list, and wrong when they are a generator, like "
            "model.parameters(). The first loop over a generator uses it up. Make a list of it before anything else."
        )
    check_block(work)
