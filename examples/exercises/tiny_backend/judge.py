"""Run generated kernels on lists, then train through torch.compile, and watch what the dispatcher sees meanwhile."""

import ast
import math
import random

import torch
from check import Wrong, plain, tensor
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch._subclasses.fake_tensor import DataDependentOutputException
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

ARITHMETIC = "add sub rsub mul div neg sin cos exp relu threshold_backward".split()


class Watch(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.computed = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        if name.rstrip("_") in ARITHMETIC:
            self.computed.add(name)
        return func(*args, **(kwargs or {}))


def graphs():
    """Graphs of ATen's operators, each with its text."""
    for text in (
        "x + y",
        "x - y * 3",
        "2 - x",
        "(x * x).sin() / (y.exp() + 1)",
        "torch.relu(x - y).detach() * -y, x, x.cos()",
        "x - x, y / x",
        "(s := x.sin()), s",
    ):
        function = eval(f"lambda x, y: [{text}]", {"torch": torch})
        yield text, make_fx(function)(torch.ones(3), torch.ones(3)).graph
    yield "x.sin(), None", with_none(make_fx(lambda x, y: [x.sin(), y])(torch.ones(3), torch.ones(3)).graph)


def with_none(graph):
    """The graph with None as its last output, as a backward graph has it for an input without a gradient."""
    (output,) = [node for node in graph.nodes if node.op == "output"]
    output.args = ([*output.args[0][:-1], None],)
    return graph


def loops(tree):
    kinds = (ast.For, ast.While, ast.comprehension)
    mapped = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in ("map", "filter", "reduce")]
    return [node for node in ast.walk(tree) if isinstance(node, kinds)] + mapped


def kernel_of(text, source):
    """The function that generated code defines."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, TypeError) as error:
        raise Wrong(f"source(graph) of {text} is not Python: {error}\n{source}") from None
    namespace = {"math": math}
    exec(compile(tree, "source(graph)", "exec"), namespace)
    if not callable(namespace.get("kernel")):
        raise Wrong(f"source(graph) of {text} defines no function `kernel`:\n{source}")
    if (count := len(loops(tree))) != 1:
        idea = "You may have written a loop for each operator. " if count > 1 else ""
        raise Wrong(
            f"the code for {text} has {count} loops, and one is expected; comprehensions and map count as loops.\n"
            f"{source}\n{idea}One loop that does all operations for each element reads every input once, and there is "
            "no list between two operations: this is fusion."
        )
    return namespace["kernel"]


def check_kernels(work):
    draw = random.Random(0)
    for text, graph in graphs():
        source = work.source(graph)
        kernel = kernel_of(text, source)
        columns = [[round(draw.uniform(0.5, 2), 2) for _ in range(4)] for _ in range(2)]
        try:
            came = plain(kernel(*columns))
        except Exception as error:
            raise Wrong(f"the code for {text} raised {error!r}:\n{source}\n{why(graph)}") from None
        module = torch.fx.GraphModule({}, graph)
        expected = [
            None if t is None else t.tolist() for t in module(*(torch.tensor(c, dtype=torch.float64) for c in columns))
        ]
        (output,) = graph.find_nodes(op="output")
        if len(came) != len(expected) and len(set(output.args[0])) < len(expected):
            raise Wrong(
                f"the code for {text} returns a list of {len(came)}, and the graph has {len(expected)} outputs. You "
                "may have kept the results in a dict by node. One node is an output twice here, because the "
                "function returns the same tensor twice. So return its list twice."
            )
        if len(came) != len(expected):
            raise Wrong(
                f"the code for {text} returns {len(came)} results, and the graph has {len(expected)} outputs. You "
                "may have left out an output that is None. Each output has its place, None too: a backward graph "
                "has None for an input that needs no gradient."
            )
        for mine, right in zip(came, expected):
            if mine is None or right is None:
                if mine is not right:
                    raise Wrong(
                        f"the code for {text}, of {columns}\n  gave      {came}\n  expected  {expected}\n{source}"
                    )
            elif not torch.allclose(torch.tensor(mine), torch.tensor(right), atol=1e-6):
                wrong = f"the code for {text}, of {columns}\n  gave      {short(mine)}\n  expected  {short(right)}"
                raise Wrong(f"{wrong}\n{source}\n{why(graph)}")


def short(values):
    """Numbers with four digits."""
    return [round(value, 4) for value in values]


def why(graph):
    """What makes a graph difficult."""
    for node in graph.nodes:
        tensors = [a for a in node.args if isinstance(a, torch.fx.Node)]
        if node.op == "call_function" and tensors != node.all_input_nodes:
            return (
                f"In `{node.name} = {node.target}{node.args}` the same node is an operand twice. You may have used "
                "`node.all_input_nodes`, which lists it once; `node.args` has the operands as they were written."
            )
        if node.op == "call_function" and len(tensors) != len(node.args):
            return (
                f"In `{node.name} = {node.target}{node.args}` a number is an operand. You may have used "
                "`node.all_input_nodes`, which lists nodes only; `node.args` has the operands as they were written."
            )
    return ""


def check_refusals(work):
    cases = {
        "an operator without a formula, sigmoid,": lambda x, y: [torch.sigmoid(x) + y],
        "an overload without a formula, add.Scalar(x, 1, 2), which is x + 2,": lambda x, y: [
            torch.ops.aten.add.Scalar(x, 1, 2)
        ],
        "a keyword argument, add(x, y, alpha=2),": lambda x, y: [torch.add(x, y, alpha=2)],
    }
    for what, function in cases.items():
        graph = make_fx(function)(torch.ones(3), torch.ones(3)).graph
        try:
            source = work.source(graph)
        except NotImplementedError:
            continue
        raise Wrong(
            f"{what} was not refused; source(graph) returned\n{source}\nYou may have thought that torch checks what "
            "a backend returns. torch does not, so a backend has to refuse what it does not know, with "
            "NotImplementedError."
        )
    repeats = {
        ((2, 3), (3,)): "torch repeats the row, but `zip` ends with the shortest list, without a word.",
        ((3, 1), (1, 3)): "Both have 3 elements, and torch broadcasts them to 9, so the same number of elements is "
        "not enough.",
    }
    for shapes, why in repeats.items():
        example = tuple(map(torch.ones, shapes))
        module = make_fx(lambda x, y: [x + y])(*example)
        try:
            run = work.compiler(module, example)
        except NotImplementedError:
            continue
        try:
            came = f"gave {run(*example)}"
        except Exception as error:
            came = f"failed when it ran: {error}"
        raise Wrong(
            f"x + y with x of shape {shapes[0]} and y of shape {shapes[1]} was not refused, and {came}. {why} `inputs` "
            "have shapes: compare them."
        )


def fitting(results, shape, dtype):
    """The results, if they have the shape and the dtype of the inputs."""
    for result in results:
        for of, right in (("shape", shape), ("dtype", dtype)):
            if result is not None and getattr(tensor(result), of) != right:
                raise Wrong(
                    f"for inputs with the {of} {right}, a result has the {of} {getattr(result, of)}. You may have "
                    "made a tensor from the list alone. A list knows neither shape nor dtype; take them from the "
                    "inputs."
                )
    return results


def trained(work, function, tensors):
    """Results and gradients of a function that is compiled with the backend, and what computed them besides it."""
    watch, failed = Watch(), []

    def boxed(module, inputs):
        try:
            run = work.compiler(module, inputs)
        except Exception as error:
            failed.append(error)  # Dynamo takes some errors for a reason to run the function as it is
            raise

        def watched(*arguments):
            with watch:
                return fitting(run(*arguments), arguments[0].shape, arguments[0].dtype)

        return make_boxed_func(watched)

    torch.compiler.reset()
    try:
        results = torch.compile(function, backend=aot_autograd(fw_compiler=boxed))(*tensors)
        grads = torch.autograd.grad([r.sin().sum() for r in results], [t for t in tensors if t.requires_grad])
    except torch._dynamo.exc.BackendCompilerFailed:
        if not failed:
            raise
    if failed and isinstance(failed[0], DataDependentOutputException):
        raise Wrong(
            "You may have thought that compiler gets the tensors of a call. compiler asked its inputs for their "
            "numbers, but these inputs are fake: they have shapes, strides and dtypes, and no data. Numbers come "
            "when the function that compiler returned is called."
        )
    if failed:
        raise failed[0]
    return [*results, *grads], watch.computed


def check_training(work):
    def function(x, y):
        return torch.relu(x * y - 0.2) * (2 - x.exp()), (y / x).cos()

    torch.manual_seed(0)
    for shape, dtype, wants in (((4,), torch.float32, True), ((2, 3), torch.float64, False), ((), torch.float32, True)):
        x = torch.rand(shape, dtype=dtype).add(0.5).requires_grad_()
        y = torch.rand(shape[::-1], dtype=dtype).t().requires_grad_(wants)
        results = function(x, y)
        expected = [
            *results,
            *torch.autograd.grad([r.sin().sum() for r in results], [t for t in (x, y) if t.requires_grad]),
        ]
        came, computed = trained(work, function, (x, y))
        if computed:
            raise Wrong(
                f"while the compiled function ran, the dispatcher saw {', '.join(sorted(computed))}: torch computed "
                "what your kernel has to compute. You may have called the graph itself."
            )
        names = ("result 0", "result 1", "the gradient of x", "the gradient of y")
        for what, mine, right in zip(names, came, expected):
            if not torch.allclose(mine, right, atol=1e-5):
                raise Wrong(f"for x of shape {tuple(shape)}, {what} is {mine.tolist()} and should be {right.tolist()}")


def check(work):
    torch._logging.set_logs(all=50)
    check_kernels(work)
    check_refusals(work)
    check_training(work)
