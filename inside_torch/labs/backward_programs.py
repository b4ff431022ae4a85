"""The programs that the lab backward-replay replays."""

from typing import NamedTuple

HOOKS = """
def said(t):
    few = [f"{round(v, 4) + 0:g}" for v in t.flatten().tolist()[:12]]
    more = ", …" * (t.numel() > 12)
    return f"{tuple(t.shape)}: {', '.join(few)}{more}" if t.dim() else few[0]


nodes = [root.grad_fn for root in roots]
for node in nodes:
    following = dict.fromkeys(n for n, _ in node.next_functions if n)
    nodes += [n for n in following if n not in nodes]
oldest = min(node._sequence_nr() for node in nodes)
for node in nodes:
    number = node._sequence_nr()
    number = "largest" if number == 2**64 - 1 else number - oldest
    name = f"{number:>7} {node.name().split('::')[-1]}"
    node.register_prehook(
        lambda got, name=name: print(name, "gets", *map(said, got)))
"""
END = """
for name, leaf in leaves.items():
    print(f"{name}.grad", None if leaf.grad is None else said(leaf.grad))
"""


class Scenario(NamedTuple):
    """A program without its last line, the call of backward."""

    said: str  # what a reader chooses
    setup: str
    lines: str  # of forward, one statement each
    swap: tuple = ()  # two lines that may change places
    inputs: str = ""  # the name of the leaf that may be asked for
    roots: str = "[loss]"
    call: str = "loss.backward()"


LEAF = """x = torch.tensor([1.0, 2.0], requires_grad=True)
leaves = {"x": x}
"""
SCENARIOS = {
    "ten": Scenario(
        "the ten lines",
        """from torch import nn
from torch.nn.functional import cross_entropy

torch.manual_seed(0)
x, target = torch.randn(8, 3), torch.randint(2, (8,))
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
leaves = dict(model.named_parameters())
""",
        "h = model[0](x)\nr = model[1](h)\ny = model[2](r)\nloss = cross_entropy(y, target)",
        inputs="2.weight",
    ),
    "uses": Scenario(
        "a result used three times",
        'x = torch.tensor(2.0, requires_grad=True)\nleaves = {"x": x}\n',
        "h = x * 3\na = h * 5\nb = h * h\nloss = a + b",
        swap=(1, 2),
    ),
    "again": Scenario("a .grad that is there", LEAF + "(x * x).sum().backward()\n", "y = x * 3\nloss = y.sum()"),
    "shared": Scenario(
        "a shared weight",
        """x = torch.ones(1, 2)
w = torch.tensor([[0.5, 1.0], [0.0, -1.0]], requires_grad=True)
b = torch.tensor([0.5, 0.0], requires_grad=True)
leaves = {"w": w, "b": b}
""",
        "h = x @ w + b\nr = h.tanh()\ny = r @ w\nloss = y.sum()",
        inputs="b",
    ),
    "view": Scenario(
        "an in-place operation on a view",
        LEAF,
        "y = x * 2\nv = y[0]\nv.mul_(3)\nloss = y.sum() + v",
    ),
    "checkpoint": Scenario(
        "a checkpoint",
        f"""from functools import partial

from torch.utils.checkpoint import checkpoint

checkpoint = partial(checkpoint, use_reentrant=False)
{LEAF}

def f(h):
    print("f runs")
    return h.sin().exp()

""",
        "h = x * 2\ny = checkpoint(f, h)\nloss = y.sum()",
    ),
    "function": Scenario(
        "a Function of our own",
        f"""
class SinCos(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        s, c = x.sin(), x.cos()
        ctx.save_for_backward(s, c)
        return s, c

    @staticmethod
    def backward(ctx, to_s, to_c):
        s, c = ctx.saved_tensors
        return to_s * c - to_c * s


{LEAF}""",
        "s, c = SinCos.apply(x)\na = s * 2\nb = c * 3\nloss = (a + b).sum()",
        swap=(1, 2),
    ),
    "roots": Scenario(
        "several roots",
        """x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 4.0], requires_grad=True)
leaves = {"x": x, "w": w}
""",
        "h = x.exp()\na = h.sum()\nb = (h * w).sum()",
        swap=(1, 2),
        inputs="w",
        roots="[a, b]",
        call="torch.autograd.backward([a, b])",
    ),
}
