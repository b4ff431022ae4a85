"""One line of the kernel for each node, all in one loop; around it, tensors become lists and lists tensors."""

import math

import torch

aten = torch.ops.aten
FORMULAS = {
    aten.add.Tensor: "({0} + {1})",
    aten.sub.Tensor: "({0} - {1})",
    aten.rsub.Scalar: "({1} - {0})",
    aten.mul.Tensor: "({0} * {1})",
    aten.div.Tensor: "({0} / {1})",
    aten.neg.default: "(-{0})",
    aten.sin.default: "math.sin({0})",
    aten.cos.default: "math.cos({0})",
    aten.exp.default: "math.exp({0})",
    aten.relu.default: "max({0}, 0.0)",
    aten.threshold_backward.default: "({0} if {1} > {2} else 0.0)",
    aten.detach.default: "{0}",
}


def source(graph):
    *nodes, output = graph.nodes
    columns = [node.name for node in nodes if node.op == "placeholder"]
    elements = [f"{name}_i" for name in columns]
    outputs = output.args[0]
    empty = ", ".join("None" if node is None else "[]" for node in outputs)
    lines = [
        f"def kernel({', '.join(columns)}):",
        f"    results = [{empty}]",
        f"    for {', '.join(elements)}, in zip({', '.join(columns)}):",  # the comma: one input, too, comes as a tuple
    ]
    for node in nodes[len(columns) :]:
        if node.target not in FORMULAS or node.kwargs:
            raise NotImplementedError(f"{node.target} with {node.kwargs}")
        operands = [f"{a.name}_i" if isinstance(a, torch.fx.Node) else repr(a) for a in node.args]
        lines.append(f"        {node.name}_i = {FORMULAS[node.target].format(*operands)}")
    for number, node in enumerate(outputs):
        if node is not None:
            lines.append(f"        results[{number}].append({node.name}_i)")
    return "\n".join([*lines, "    return results"])


def compiler(module, inputs):
    shape, dtype = inputs[0].shape, inputs[0].dtype
    if any(t.shape != shape for t in inputs):
        raise NotImplementedError("inputs of different shapes")
    namespace = {"math": math}
    exec(source(module.graph), namespace)

    def run(*tensors):
        results = namespace["kernel"](*(t.flatten().tolist() for t in tensors))
        return [None if r is None else torch.tensor(r, dtype=dtype).view(shape) for r in results]

    return run
