"""Compare Monitor with the code it comes from, then insist on one graph, made of torch's operations, compiled once."""

import re

import torch
from check import Wrong, tensor
from torch._dynamo.exc import TorchDynamoException

LIMIT = 2.0
TORCHS = ("torch", "_operator", "operator", "builtins", "math", "numpy")


def original(x, above=None, rows=True, through=False):
    """What the starter's forward computes; with another argument, a mistake."""
    norm = x.square().sum().sqrt()
    norm = norm if through else norm.detach()
    above = norm > LIMIT if above is None else above
    if above:
        x = x * (LIMIT / norm)
    x = torch.where((x.sum(1, keepdim=True) if rows else x) < 0, x * 0.1, x)
    return x, x[int(x.sum(1).argmax())]


IDEAS = {
    "You may have scaled without a condition. Every batch was scaled, but a batch whose norm is below the limit has "
    "to stay as it is.": {"above": True},
    "No batch was scaled. A batch whose norm is above the limit has to be scaled down to the limit.": {"above": False},
    "You may have asked about each element. The negative elements were damped, but the condition is the sum of a "
    "row, and it decides for the whole row.": {"rows": False},
}


def batches():
    """Batches above and below the limit, with their names."""
    torch.manual_seed(0)
    yield "a large batch", torch.randn(4, 3) * 3
    yield "a small batch", torch.randn(4, 3) / 9
    yield "a batch whose sums are negative", -torch.rand(4, 3)
    yield "a batch of zeros", torch.zeros(4, 3)
    yield "a batch whose norm is exactly the limit", torch.tensor([[1.0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
    yield "another large batch", torch.randn(4, 3) + 2


def first_row(mine, right):
    """The first row in which two tensors differ, with four digits."""
    same = torch.isclose(mine, right, atol=1e-6)
    row = 0 if same.dim() == 1 else int(same.all(1).int().argmin())
    mine, right = (", ".join(f"{value:.4f}" for value in (t if t.dim() == 1 else t[row])) for t in (mine, right))
    return (f"  in row    {row}\n" if same.dim() > 1 else "") + f"  gave      {mine}\n  expected  {right}"


def gradient(outputs, x):
    return torch.autograd.grad(outputs[0].exp().sum() + outputs[1].square().sum(), x)[0]


def compare(module, call, how):
    """Hold `call`, which runs `module` as it is or compiled, against the original, batch after batch."""
    scaled = int(module.scaled)
    for number, (name, x) in enumerate(batches(), int(module.calls) + 1):
        scaled += int(x.square().sum().sqrt() > LIMIT)
        x.requires_grad_()
        came, expected = call(x), original(x)
        if not isinstance(came, tuple) or [t.shape for t in came] != [t.shape for t in expected]:
            raise Wrong(f"{how}, {name}: forward has to return the batch and one of its rows, two tensors")
        for what, mine, right in zip(("batch", "best row"), came, expected):
            if torch.allclose(tensor(mine), right, atol=1e-6):
                continue
            ideas = [idea for idea, mistake in IDEAS.items() if torch.allclose(came[0], original(x, **mistake)[0])]
            raise Wrong(
                f"{how}, {name}: the {what} is not that of the original\n{first_row(mine, right)}\n{(ideas or [''])[0]}"
            )
        check_gradient(came, expected, x, f"{how}, {name}")
        for what, count, right in (("calls", module.calls, number), ("scaled", module.scaled, scaled)):
            if int(count) != right:
                idea = (
                    "You may have dropped the count, because a Python number counts up outside of the graph. A "
                    "count need not be a Python number: a buffer of the module counts inside the graph."
                )
                if what == "scaled" and "exactly" in name:
                    idea = (
                        "You may have compared with >=. A norm that equals the limit is not above it; the "
                        "original asks for >."
                    )
                raise Wrong(
                    f"{how}, {name}: after call {number}, `{what}` is {int(count)} and has to be {right}. {idea}"
                )


def check_gradient(came, expected, x, how):
    if not came[0].requires_grad:
        raise Wrong(f"{how}: the result requires no gradient, although x does")
    mine, right = gradient(came, x), gradient(expected, x)
    if torch.allclose(mine, right, atol=1e-5):
        return
    idea = ""
    if mine.isnan().any():
        idea = (
            "\nYou may have thought that what torch.where does not choose cannot matter. torch.where computes both "
            "sides, and backward multiplies the gradient of the other side by 0: 0 * inf is NaN. Choose between two "
            "factors first, and multiply x by the chosen one."
        )
    elif torch.allclose(mine, gradient(original(x, through=True), x), atol=1e-5):
        idea = (
            "\nYou may have replaced a number by a tensor. The gradient flows through the norm now. In the original "
            "the norm came from `.item()`, and a number has no history, so detach the norm."
        )
    raise Wrong(f"{how}: the gradient of x is not that of the original\n{first_row(mine, right)}{idea}")


def why_broken(error):
    """The reason and the line of a graph break."""
    said = str(error)
    reason = said.splitlines()[0].removeprefix("Consider annotating your code using torch._check*(). ")
    reason = reason.partition(" (unhinted")[0]
    line = re.findall(r"line (\d+), in \w+\n +(.+)", said.split("from user code:")[-1])
    where = f"line {line[-1][0]}, `{line[-1][1]}`" if line else "forward"
    idea = ""
    if "disable" in said:
        idea = (
            "You may have disabled a function. A disabled function runs outside of any graph, so disabling moves "
            "the break and keeps it."
        )
    elif "extract specialized integer" in said:
        idea = (
            "You may have indexed by a single number. An index of no dimensions is read as a Python number, and no "
            "such number is known while Dynamo traces. With one dimension, as argmax returns it with keepdim=True, "
            "the index stays a tensor."
        )
    elif "data-dependent" in said or "Data-dependent" in said or "DataDependent" in said:
        idea = (
            "You may have asked a tensor for its value. No value exists while Dynamo traces, so no `if`, no Python "
            "number and no size may depend on one. Let a tensor choose: torch.where, indexing by a tensor, "
            "arithmetic with a comparison."
        )
    elif "builtin" in said or "print" in said:
        idea = (
            "You may have kept the print. Python would have to act in the middle of the graph. The count in "
            "`scaled` tells the same afterwards."
        )
    return f"{where} breaks the graph: {reason.strip()}\n{idea}".rstrip()


def opaque(graph):
    """The name of what in a graph hides Python code, or None."""
    for node in graph.graph.nodes:
        target = node.target
        if node.op != "call_function":
            continue
        module = getattr(target, "__module__", None) or getattr(type(target), "__module__", "")
        namespace = getattr(target, "namespace", "aten")
        hidden = "flat_apply" in str(target) or "leaf_function" in str(target)
        if hidden or namespace not in ("aten", "prims") or not module.startswith(TORCHS):
            return getattr(target, "__name__", str(target))
    return None


def check(work):
    torch._logging.set_logs(all=50)
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph

    module = work.Monitor(LIMIT)
    compare(module, module, "in eager mode")
    module = work.Monitor(LIMIT)
    compiled = torch.compile(module, backend=backend, fullgraph=True)
    try:
        compiled(torch.ones(4, 3, requires_grad=True))
    except TorchDynamoException as error:
        raise Wrong(why_broken(error)) from None
    if not graphs:
        raise Wrong(
            "Dynamo captured nothing: forward was kept away from it. The exercise asks for one graph, not for none."
        )
    if name := opaque(graphs[0]):
        raise Wrong(
            f"the graph calls `{name}`, a Python function that Dynamo was told not to look into. You may have "
            "thought that this removes the break. The break is only hidden: a backend can neither see nor fuse what "
            "is inside that function."
        )
    for _ in range(3):
        compiled(torch.ones(4, 3, requires_grad=True))
    if len(graphs) > 1:
        raise Wrong(
            f"four calls with the same shapes compiled {len(graphs)} times. You may have counted in Python. Dynamo "
            "guards each number that forward reads, and an attribute that forward counts up is another number in "
            "each call. Count in a tensor: no guard looks at its value."
        )
    compare(module, compiled, "compiled")
