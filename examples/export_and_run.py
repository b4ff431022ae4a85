"""An exported program is operators, weights and promises: it runs without the class it came from."""

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import torch
from torch import nn
from torch.export import Dim, export

warnings.filterwarnings("ignore", "`isinstance.treespec, LeafSpec.", FutureWarning)  # torch's own, on the way out


# --8<-- [start:export]
class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
        self.register_buffer("scale", torch.tensor(2.0))
        self.loud = True

    def forward(self, x):
        return self.layers(x) * self.scale if self.loud else self.layers(x)


torch.manual_seed(0)
net, x = Network(), torch.linspace(-1, 1, 15).reshape(5, 3)
program = export(net, (x,), dynamic_shapes=({0: Dim("batch", min=2, max=64)},))
for node in program.graph.nodes:
    if node.op == "call_function":
        print(f"{node.name:8} = {node.target}({', '.join(map(str, node.args))})")
    else:
        print(node.op, *(node.args[0] if node.op == "output" else [node.name]))
# --8<-- [end:export]


# --8<-- [start:run]
def run(program, *inputs):
    """The program by hand: a table of values, filled one node after the other."""
    lifted = program.graph_signature.inputs_to_parameters | program.graph_signature.inputs_to_buffers
    values, waiting = {}, iter(inputs)
    for node in program.graph.nodes:
        if node.op == "output":
            return values[node.args[0][0]]
        if node.op == "placeholder":
            name = lifted.get(node.name)
            values[node] = program.state_dict[name] if name else next(waiting)
        else:
            args = torch.fx.map_arg((node.args, node.kwargs), values.get)
            values[node] = node.target(*args[0], **args[1])


assert torch.equal(run(program, x), net(x)) and torch.equal(program.module()(x), net(x))
nodes = program.run_decompositions().graph.find_nodes(op="call_function", target=torch.ops.aten.addmm.default)
assert len(nodes) == 2, "linear may be taken apart later"
# --8<-- [end:run]

# --8<-- [start:promises]
net.loud = False
assert not torch.equal(program.module()(x), net(x)), "a Python branch was taken once and for all"
net.loud = True
for name, wrong in {"65 rows": torch.ones(65, 3), "4 columns": torch.ones(2, 4)}.items():
    try:
        program.module()(wrong)
    except AssertionError as error:
        print(f"{name}:", error)
    else:
        raise AssertionError("a promise was broken")
assert program.module()(torch.ones(64, 3)).shape == (64, 1)
assert program.module()(torch.ones(1, 3)).shape == (1, 1), "a lower bound of 2 or less is not checked"
# --8<-- [end:promises]

# --8<-- [start:elsewhere]
ELSEWHERE = """
import sys, torch
program = torch.export.load(sys.argv[1])
torch.save(program.module()(torch.ones(7, 3)), sys.argv[2])
"""
with tempfile.TemporaryDirectory() as folder:
    saved, answer = Path(folder, "network.pt2"), Path(folder, "answer.pt")
    torch.export.save(program, saved)
    subprocess.run([sys.executable, "-c", ELSEWHERE, saved, answer], check=True, timeout=60)
    assert torch.equal(torch.load(answer), net(torch.ones(7, 3)))
print("another process, without the class, computes the same")
# --8<-- [end:elsewhere]
