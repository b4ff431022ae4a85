"""The engine: count what a node waits for, run the newest that waits for nothing (torch/csrc/autograd/engine.cpp)."""

from collections import Counter

from .derivatives import sum_to
from .dispatch import aten
from .function import AccumulateGrad, GradMode, Node, gradient_edge
from .storage import TORCH_CHECK


class GraphRoot(Node):
    """Stands above the outputs, and hands them the gradients to start from: 1 for a number."""

    def __init__(self, outputs, grads):
        super().__init__("torch::autograd::GraphRoot", outputs)
        self.grads = list(grads)
        for i, out in enumerate(outputs):
            TORCH_CHECK(out.requires_grad, f"element {i} of tensors does not require grad and does not have a grad_fn")
            if grads[i] is None:
                TORCH_CHECK(out.numel() == 1, "grad can be implicitly created only for scalar outputs")
                self.grads[i] = aten.ones_like(out)
            said = f"Mismatch in shape: grad_output[{i}] has a shape of {self.grads[i].shape} and output[{i}] has a "
            TORCH_CHECK(self.grads[i].shape == out.shape, f"{said}shape of {out.shape}.")

    def apply(self, _):
        return self.grads


def compute_dependencies(root):
    """How many gradients each node waits for."""
    dependencies, nodes = Counter(), [root]
    for node in nodes:
        for function, _ in node.next_functions:
            if function:
                nodes += [] if function in dependencies else [function]
                dependencies[function] += 1
    return dependencies


# --8<-- [start:execute]
def execute(root, retain_graph, create_graph, captures=()):
    keep_graph = create_graph if retain_graph is None else retain_graph
    dependencies, ready, not_ready, captured = compute_dependencies(root), {root: root}, {}, {}
    while ready:
        node = max(ready, key=lambda node: node.sequence_nr)
        grad = captured[node] = ready.pop(node)
        if captures and isinstance(node, AccumulateGrad):
            continue
        with GradMode(create_graph):
            outputs = [None] * len(node.next_functions) if grad is None else node.apply(grad)
            if not keep_graph:
                node.release_variables()
            for (function, _), grad in zip(node.next_functions, outputs):
                if function is None:
                    continue
                if grad is not None:
                    grad, before = sum_to(grad, function.input_shape), not_ready.get(function)
                    not_ready[function] = grad if before is None else before + grad
                dependencies[function] -= 1
                if not dependencies[function]:
                    ready[function] = not_ready.pop(function, None)
    return tuple(captured.get(node) for node in captures)
    # --8<-- [end:execute]


def backward(tensor, gradient=None, retain_graph=None, create_graph=False):
    execute(GraphRoot([tensor], [gradient]), retain_graph, create_graph)


def grad(output, inputs, grad_output=None, retain_graph=None, create_graph=False, allow_unused=False):
    captures = [gradient_edge(x)[0] for x in (inputs if isinstance(inputs, (list, tuple)) else [inputs])]
    TORCH_CHECK(all(captures), "One of the differentiated Tensors does not require grad")
    result = execute(GraphRoot([output], [grad_output]), retain_graph, create_graph, captures)
    said = "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True."
    TORCH_CHECK(allow_unused or all(one is not None for one in result), said)
    return result
