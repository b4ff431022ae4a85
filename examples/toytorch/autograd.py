"""The engine: count what a node waits for, run the newest that waits for nothing (torch/csrc/autograd/engine.cpp)."""

import heapq
import itertools
from collections import Counter

from .derivatives import sum_to
from .dispatch import aten
from .function import Node, gradient_edge
from .storage import TORCH_CHECK
from .variable import GradMode

arrivals = itertools.count()


class ReadyQueue:
    """Nodes whose gradients are complete; the one with the largest sequence number goes first."""

    def __init__(self):
        self.heap = []

    def push(self, node, inputs):
        heapq.heappush(self.heap, (-node.sequence_nr, next(arrivals), node, inputs))

    def pop(self):
        return heapq.heappop(self.heap)[2:]


class GraphRoot(Node):
    """Stands above the outputs, and hands them their gradients."""

    def __init__(self, outputs, grads):
        super().__init__("torch::autograd::GraphRoot", outputs)
        self.grads = grads

    def apply(self):
        return self.grads


class GraphTask:
    """One backward: the gradients that each node still waits for, those that came, and the nodes that must run."""

    def __init__(self, root, captures):
        self.dependencies, self.not_ready, self.captured = Counter(), {}, {}
        order, self.exec_info = [root], {root, *(function for function, _ in captures)}
        for node in order:
            for function, _ in node.next_functions:
                if function:
                    order += [] if function in self.dependencies else [function]
                    self.dependencies[function] += 1
        for node in sorted(order, key=lambda node: node.sequence_nr):
            leads = any(function in self.exec_info for function, _ in node.next_functions)
            if leads or not captures:
                self.exec_info.add(node)


def validate_outputs(function, number, grad):
    """A gradient gets the sizes and the dtype of the tensor that it belongs to."""
    sizes, dtype = function.input_metadata[number]
    grad = sum_to(grad, sizes) if grad.shape != sizes else grad
    return grad if grad.dtype is dtype else grad.to(dtype)


def execute(root, keep_graph, create_graph, captures=()):
    task, queue = GraphTask(root, captures), ReadyQueue()
    queue.push(root, [])
    while queue.heap:
        node, inputs = queue.pop()
        task.captured |= {edge: inputs[edge[1]] for edge in captures if edge[0] is node}
        if captures and not any(function in task.exec_info for function, _ in node.next_functions):
            continue
        with GradMode(create_graph):
            outputs = node.apply(*inputs)
        if not keep_graph:
            node.release_variables()
        for (function, number), grad in zip(node.next_functions, outputs):
            if function is None:
                continue
            buffer = task.not_ready.setdefault(function, [None] * len(function.input_metadata))
            if grad is not None:
                grad = validate_outputs(function, number, grad)
                buffer[number] = grad if buffer[number] is None else buffer[number] + grad
            task.dependencies[function] -= 1
            if not task.dependencies[function]:
                queue.push(function, task.not_ready.pop(function))
    return [task.captured.get(edge) for edge in captures]


def make_grads(outputs, grads):
    """The gradients to start from: 1 for a number (torch/autograd/__init__.py)."""
    result = []
    for i, (out, grad) in enumerate(zip(outputs, grads)):
        said = f"element {i} of tensors does not require grad and does not have a grad_fn"
        TORCH_CHECK(out.requires_grad, said)
        TORCH_CHECK(grad is not None or out.numel() == 1, "grad can be implicitly created only for scalar outputs")
        result.append(grad if grad is not None else aten.ones_like(out))
        said = f"Mismatch in shape: grad_output[{i}] has a shape of {result[i].shape} and output[{i}] has a shape of "
        TORCH_CHECK(result[i].shape == out.shape, f"{said}{out.shape}.")
    return result


def backward(tensor, gradient=None, retain_graph=None, create_graph=False):
    keep_graph = create_graph if retain_graph is None else retain_graph
    execute(GraphRoot([tensor], make_grads([tensor], [gradient])), keep_graph, create_graph)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=False):
    outputs, inputs = (list(x) if isinstance(x, (tuple, list)) else [x] for x in (outputs, inputs))
    grads = list(grad_outputs) if isinstance(grad_outputs, (tuple, list)) else [grad_outputs] * len(outputs)
    for x in inputs:
        TORCH_CHECK(x.requires_grad, "One of the differentiated Tensors does not require grad")
    keep_graph = create_graph if retain_graph is None else retain_graph
    root = GraphRoot(outputs, make_grads(outputs, grads))
    result = execute(root, keep_graph, create_graph, [gradient_edge(x) for x in inputs])
    for i, one in enumerate(result):
        said = f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set "
        TORCH_CHECK(one is not None or allow_unused, said + "allow_unused=True if this is the desired behavior.")
    return tuple(result)
