"""The reader's own torch does what torch does: which kernels run in a call, noted by torch's own kernels."""

from __future__ import annotations

import ast
import itertools
import re
import runpy
import subprocess
import sys
import textwrap
import warnings

import pytest
import torch
import toytorch_agreement as agreement
from conftest import BOOK, ROOT
from torch.library import Library, get_kernel

toytorch = agreement.toy
PACKAGE = ROOT / "examples" / "toytorch"
MODULES = sorted(PACKAGE.glob("*.py"))

CALLS = {"mm": 2, "mul.Tensor": 2, "relu": 1, "sum": 1, "sigmoid": 1, "t": 1, "square": 1, "_to_copy": 1, "neg_": 1}
BELOW = toytorch.dispatch.BACKENDS
MODES = {
    "plain": torch.enable_grad,
    "no_grad": torch.no_grad,
    "inference": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", cache_enabled=False),
}


def tensors() -> dict[str, torch.Tensor]:
    x = torch.eye(2)
    with torch.inference_mode():
        inference = torch.eye(2)
    w = (x * 1).requires_grad_() * 1  # no leaf, or an in-place operator would be refused
    return {"dense": x, "grad": w, "meta": x.to("meta"), "sparse": x.to_sparse(), "inference": inference}


def run(program: str) -> str:
    """What a program prints that runs in examples/, as a reader's would, and cannot import torch."""
    blocked = f"import sys; sys.modules['torch'] = None\n{program}"
    command = [sys.executable, "-c", blocked]
    return subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True, check=True, timeout=60).stdout


TEN = (PACKAGE.parent / "ten_lines.py").read_text().split("[start:ten]\n")[1].split("    # --8<-- [end:ten]")[0]
NETWORK = (PACKAGE.parent / "network.py").read_text().split("[start:ten]\n")[1].split("# --8<-- [end:ten]")[0]
START = "import toytorch as torch\nfrom toytorch import nn\n"


def test_each_module_fits_on_two_screens():
    long = {path.name: text.count("\n") for path in MODULES if (text := path.read_text()).count("\n") > 120}
    assert long == {}
    lines = [line for path in MODULES for line in path.read_text().splitlines()]
    assert len(lines) <= 1177 and sum(map(bool, lines)) <= 897


# The parts that pages show, by their lines: no marks stand in files that are read from top to bottom.
SHOWN = {
    "t",
    "expand",
    "call redispatch",
    "structured",
    "variable_type",
    "compute_dependencies execute",
    "SavedVariable",
    "__setattr__ __getattr__",
    "update",
    "forward trace",
    "malloc",
}


def test_pages_show_whole_definitions():
    shown = set()
    pages = "\n".join(page.text for page in BOOK.pages)
    for path, first, last in re.findall(r'8<-- "(examples/[\w./-]+):(\d+):(\d+)"', pages):
        folder, name = path.rsplit("/", 1)
        assert folder == "examples/toytorch", "only there does a test hold the lines"
        lines = (PACKAGE / name).read_text().splitlines()
        parts = ast.parse(textwrap.dedent("\n".join(lines[int(first) - 1 : int(last)]))).body
        shown.add(" ".join(part.name for part in parts))
        assert not any(lines[int(last) :][:1]), (name, last)
    assert shown == SHOWN


@pytest.mark.parametrize("n", [1, 15])
def test_fewer_than_16_normal_numbers_are_refused(n: int):
    with pytest.raises(NotImplementedError, match="toytorch draws 16"):
        toytorch.randn(n)


def test_it_is_made_of_python_and_numpy():
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names | {"numpy"}, path.name


def test_the_ten_lines_are_those_of_the_book_and_lose_what_they_lose_on_torch():
    assert TEN == NETWORK
    printed = run(START + TEN + "    print(loss.item())\nassert len(compiled.cache_entries) == 1\n")
    theirs: list[float] = []
    lines = NETWORK.replace("torch.compile(model)", "model") + "    theirs.append(loss.item())\n"
    exec(lines, {"torch": torch, "nn": torch.nn, "theirs": theirs})
    mine = [float(line) for line in printed.split()]
    assert len(mine) == len(theirs) == 100
    assert max(abs(a - b) for a, b in zip(mine, theirs)) < 1e-5


@pytest.mark.quiet
def test_the_ten_lines_take_less_than_three_seconds_of_a_core_and_the_import_less_than_a_third():
    clock = "import time; start = time.process_time()\n"
    stop = "\nprint(time.process_time() - start)"
    assert min(float(run(clock + "import toytorch" + stop)) for _ in range(3)) < 0.3
    assert min(float(run(START + clock + TEN + stop)) for _ in range(3)) < 3


@pytest.mark.parametrize("name", ["SGD", "AdamW"])
def test_a_state_dict_goes_to_torch_and_back(name: str):
    """Two steps on one, two on the other: as four on torch."""
    options = {"lr": 0.1, "momentum": 0.9} if name == "SGD" else {"lr": 0.1}

    def steps(module, w, state, count):
        optimizer = getattr(module.optim, name)([w], **options)
        if state:
            optimizer.load_state_dict(state)
        for _ in range(count):
            optimizer.zero_grad()
            (w * w * w).sum().backward()
            optimizer.step()
        return w.detach().tolist() if module is torch else w.detach().numpy().tolist(), optimizer.state_dict()

    def moved(state, module, kind):
        tensors = {
            i: {k: module.tensor(v.numpy()) if isinstance(v, kind) else v for k, v in one.items()}
            for i, one in state["state"].items()
        }
        return {"state": tensors, "param_groups": state["param_groups"]}

    start = [0.5, -1.0, 2.0]
    made = {module: lambda data, module=module: module.tensor(data).requires_grad_() for module in (torch, toytorch)}
    expected, _ = steps(torch, made[torch](start), None, 4)
    half, state = steps(toytorch, made[toytorch](start), None, 2)
    there, _ = steps(torch, made[torch](half), moved(state, torch, toytorch.Tensor), 2)
    half, state = steps(torch, made[torch](start), None, 2)
    back, _ = steps(toytorch, made[toytorch](half), moved(state, toytorch, torch.Tensor), 2)
    torch.testing.assert_close([there, back], [expected, expected], rtol=1e-5, atol=1e-6)
    group = getattr(toytorch.optim, name)([made[toytorch](start)]).param_groups[0]
    assert group.keys() <= state["param_groups"][0].keys()
    for option in ("maximize", "nesterov" if name == "SGD" else "amsgrad"):
        other = {**state, "param_groups": [state["param_groups"][0] | {option: True}]}
        with pytest.raises(NotImplementedError, match=rf"toytorch has no .*{option}"):
            steps(toytorch, made[toytorch](half), moved(other, toytorch, torch.Tensor), 0)


@pytest.mark.parametrize("n", [16, 17, 24, 33])
def test_it_draws_the_numbers_that_torch_draws(n: int):
    drawn = []
    with torch.random.fork_rng():
        for module in (torch, toytorch):
            module.manual_seed(2**33 + 7)
            weight = module.nn.Linear(n, 3).weight.detach().numpy()
            drawn.append((module.randn(n).numpy(), module.randint(5, (n,)).numpy(), weight, module.randn(4, 5).numpy()))
    torch.testing.assert_close(*drawn, rtol=1e-6, atol=1e-6)


def test_a_saved_block_is_reused_and_counted():
    printed = run("""
import toytorch as torch
from toytorch.memory import allocator
x = torch.zeros(1000)
print(allocator.allocated, allocator.reserved)
at = x.data_ptr()
del x
print(allocator.allocated, torch.ones(1000).data_ptr() == at, allocator.peak)
""")
    assert printed.split() == ["4096", "2097152", "0", "True", "4096"]


def test_meta_tensors_have_shapes_and_no_data():
    x, w = toytorch.zeros(8, 3, device="meta"), toytorch.zeros(3, 4, device="meta")
    y = (x @ w).relu().sum(0)
    assert (tuple(y.shape), y.device, y.data_ptr()) == ((4,), "meta", 0)


def test_a_compiled_function_is_guarded_fused_and_derived():
    def f(x, n):
        return (x * n + 1).relu().exp().sum()

    compiled, x = toytorch.compile(f), toytorch.tensor([0.5, -3.0], requires_grad=True)
    for n in (2, 2, 3):
        grads = []
        for function in (f, compiled):
            x.grad = None
            function(x, n).backward()
            grads.append(x.grad.numpy().tolist())
        assert grads[0] == grads[1]
    assert compiled.recompiles == ["args[1] == 2"] and len(compiled.cache_entries) == 2
    assert "relu(add(mul(a0, 2), 1, 1))" in compiled.cache_entries[0][1].code


def test_a_compiled_model_uses_the_layer_that_took_the_place_of_another():
    model = toytorch.nn.Sequential(toytorch.nn.Linear(3, 3), toytorch.nn.ReLU(), toytorch.nn.Linear(3, 3))
    compiled, x = toytorch.compile(model), toytorch.ones((1, 3))
    compiled(x)
    setattr(model, "0", toytorch.nn.Linear(3, 3))
    assert list(model._modules) == ["0", "1", "2"]
    assert compiled(x).detach().numpy().tolist() == model(x).detach().numpy().tolist()


def both(program: str) -> list:
    """What a program leaves in `found`, on torch and on toytorch, as lists of numbers."""
    result = []
    for module in (torch, toytorch):
        compile = toytorch.compile if module is toytorch else lambda function: function
        scope = {"torch": module, "nn": module.nn, "compile": compile}
        exec(program, scope)
        result.append(
            [one.detach().numpy().tolist() if isinstance(one, module.Tensor) else one for one in scope["found"]]
        )
    return result


START_XY = "x, y = torch.tensor([1., -2.], requires_grad=True), torch.tensor([3., 5.], requires_grad=True)\n"
SAME = {
    "y += 1 writes to y": "y = x.detach().clone()\nz = y\nz += 1\nz *= 2\nz -= 3\nz /= 4\nfound = [y]",
    "no gradient is that of another tensor": "(x + y).sum().backward(); x.grad.mul_(2); found = [x.grad, y.grad]",
    "the gradient given stays": "g = torch.ones(2); x.backward(g); x.grad.mul_(2); found = [g, x.grad]",
    "a gradient grows in place": "x.sum().backward(); g = x.grad; x.sum().backward(); found = [g, g is x.grad]",
    "an argument twice": """
f = compile(lambda a, b: a * b)
f(x, x).sum().backward()
found = [x.grad, f(x, y), f(y, y)]""",
    "a size that expand leaves open": """
f = compile(lambda a, b: a.reshape(2, 1).expand(-1, 3).sum() * b)
f(x, y).sum().backward()
found = [f(x, y), x.grad]""",
    "an argument made of another": """
f = compile(lambda a, b: (a * b).sum())
f(x, x * y).backward()
found = [x.grad, y.grad]""",
    "tied weights": """
m = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
m[1].weight = m[0].weight
for p in m.parameters():
    p.detach().mul_(0).add_(0.5)
compile(m)(x * torch.ones(3, 2)).sum().backward()
found = [m[0].weight.grad, m[0].bias.grad, len(list(m.parameters()))]""",
    "weights tied anew": """
m = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2))
for i, p in enumerate(m.parameters()):
    p.detach().mul_(0).add_(i)
m[2].weight = m[0].weight
f = compile(m)
found = [f(x * torch.ones(3, 2))]
m[2].weight = m[1].weight
found += [f(x * torch.ones(3, 2))]
m[2].more = nn.Parameter(torch.ones(2))
found += [f(x * torch.ones(3, 2))]""",
    "a number of NumPy": """
import numpy as np
n = np.float64(2)
f = compile(lambda a: a * n)
found = [f(x)]""",
    "1, True and 1.0 are three": """
f = compile(lambda a, n: a * 5 if n is True else a + len(str(n)))
found = [f(x, n) for n in (1, True, 1.0)]""",
    "the number of arguments": "f = compile(lambda a, *more: a + len(more)); found = [f(x), f(x, 3), f(x, 3, 4)]",
    "a number from outside": "n = 2; f = compile(lambda a: a * n); found = [f(x)]; n = 3; found += [f(x)]",
    "a module's number": """
class Scale(nn.Module):
    def forward(self, x):
        return x * self.by
m = Scale()
m.by = 2
f = compile(m)
found = [f(x)]
m.by = 3
found += [f(x)]""",
    "a number of the class above": """
class Base(nn.Module):
    by = 2
class Scale(Base):
    def forward(self, x):
        return x * self.by
f = compile(Scale())
found = [f(x)]
Base.by = 3
found += [f(x)]""",
    "a parameter that was away": """
class Line(nn.Module):
    def forward(self, x):
        return x * self.a - self.b
m = Line()
m.a, m.b = nn.Parameter(torch.tensor([1., 2.])), nn.Parameter(torch.tensor([3., 4.]))
f = compile(m)
found = [f(x)]
m.a, a = None, m.a
m.a = a
found += [f(x)]""",
    "a layer that was away": """
class By(nn.Module):
    def forward(self, x):
        return x * self.weight
class Two(nn.Module):
    def forward(self, x):
        return self.b(self.a(x) + 1)
m = Two()
m.a, m.b = By(), By()
m.a.weight, m.b.weight = nn.Parameter(torch.tensor([1., 2.])), nn.Parameter(torch.tensor([3., 4.]))
f = compile(m)
found = [f(x)]
m.a, a = None, m.a
m.a = a
found += [f(x)]""",
    "a module that came later": """
class Twice(nn.Module):
    def forward(self, x):
        return x * 2
m = nn.Sequential(Twice())
f = compile(m)
found = [f(x)]
m.more = Twice()
found += [f(x)]""",
    "a parameter made of a result is a leaf": """
w = nn.Parameter(x * 2)
(w * y).sum().backward()
found = [w.grad]""",
    "a gradient that is not contiguous": """
f = compile(lambda a: a.reshape((2, 1)) * 2)
f(x).sum().backward()
found = [x.grad]""",
    "what is overwritten is saved before": """
z = x * 1
z.mul_(y)
z.sum().backward()
found = [x.grad, y.grad]""",
    "more operators than parentheses may nest": """
def many(a):
    for _ in range(300):
        a = (a * 0.9).relu()
    return a
f = compile(many)
f(x).sum().backward()
found = [f(x), x.grad]""",
    "globals of one name": """
class A(nn.Module):
    def forward(self, x):
        return x * S
S, there = 2, {"nn": nn, "S": 3}
exec("class B(nn.Module):\\n    def forward(self, x): return x * S", there)
f = compile(nn.Sequential(A(), there["B"]()))
found = [f(x)]
S = 10
found += [f(x)]
there["S"] = 4
found += [f(x)]""",
    "a global named modules": """
class Scale(nn.Module):
    def forward(self, x):
        return x * self.by * modules
modules, m = 3, Scale()
m.by = 2
f = compile(m)
found = [f(x)]
m.by = 7
found += [f(x)]""",
    "a default": """
def by(a, n=3):
    return a * n
f = compile(by)
found = [f(x)]
by.__defaults__ = (5,)
found += [f(x)]""",
    "compiled, and a write before backward": """
m, found = nn.Linear(2, 2), []
m.weight.detach().mul_(0).add_(1)
f = compile(nn.Sequential(m))
for w in (m.bias, m.weight):
    out = f(x * torch.ones(3, 2)).sum()
    w.detach().mul_(2)
    try:
        out.backward()
        found += [x.grad, m.weight.grad]
    except RuntimeError as error:
        found += ["modified by an inplace operation" in str(error)]""",
    "a class that cannot be": """
a = torch.tensor([[1., -float("inf")], [0., 2.]], requires_grad=True)
loss = nn.functional.cross_entropy(a, torch.tensor([0, 1]))
loss.backward()
found = [loss, a.grad]""",
    "relu at nan": """
a = torch.tensor([float("nan"), 1., 0.], requires_grad=True)
a.relu().sum().backward()
found = [a.grad]""",
    "a number divided": "z = 2 / x; z.sum().backward(); found = [z, x.grad, 1 / torch.tensor([2, 4])]",
    "backward makes no views": """
h = (x * y).reshape((2, 1)) @ torch.ones(1, 2)
(h @ h).sum().backward()
h.mul_(2)
found = [h]""",
    "a view that is gone": "z = x * 1; v = z.view(2, 1); del v; z.mul_(2); z.sum().backward(); found = [x.grad]",
    "a compiled program warns of nothing": "f = compile(lambda a: a.log()); found = [f(x * x), f(x * 0)]",
    "no decay of an infinite parameter": """
w = torch.tensor([float("inf"), 1.]).requires_grad_()
(w * 2).sum().backward()
torch.optim.SGD([w], lr=1.).step()
found = [w, w.grad]""",
    "a hook that takes itself away": """
m, seen = nn.ReLU(), []
def once(module, args, out):
    seen.append(1)
    handle.remove()
handle = m.register_forward_hook(once)
m(x), m(x)
found = seen""",
    "a result is asked for its gradient again": """
z = (x * 1).requires_grad_()
z.add_(1)
z.sum().backward()
found = [z, x.grad]""",
    "a number of NumPy on the left": """
import numpy as np
(np.float32(2) * x).sum().backward()
found = [x.grad]""",
    "hooks are taken away one by one": """
m, seen = nn.ReLU(), []
for i in range(9):
    handle = m.register_forward_hook(lambda module, args, out, i=i: seen.append(i))
    if i % 2:
        handle.remove()
    del handle
m(x)
found = seen""",
}


@pytest.mark.parametrize("program", SAME.values(), ids=SAME)
def test_these_programs_do_what_they_do_on_torch(program: str):
    theirs, mine = both(START_XY + program)
    torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6)


REFUSED = {
    "torch.compile(lambda a: a[0])([x])": "compiles functions of tensors and numbers",
    "torch.compile(lambda a: a)(x)": "compiles functions that return one new tensor",
    "torch.compile(lambda a: a.detach())(x)": "compiles functions that return one new tensor",
    "torch.compile(lambda a: a.view(2, 1))(x)": "compiles functions that return one new tensor",
    "torch.compile(lambda a: a * y)(x)": "does not compile mul",
    "torch.compile(lambda a: (a > 0) * a)(x)": "does not compile mul",
    "torch.compile(lambda a: a.detach().add_(1))(x)": "does not compile add_",
    "torch.compile(lambda a: a * y.sum().item())(x)": "does not compile sum",
    "n = torch.tensor(2.); torch.compile(lambda a: a * n.item())(x)": "reads no elements",
    "torch.compile(lambda a: a * a.sum().item())(x)": "reads no elements",
    "torch.compile(torch.relu)(x)": "compiles modules and functions",
    "m = torch.nn.Linear(2, 2); torch.compile(m.forward)(x)": "compiles modules and functions",
    "n = 1\ndef f(a): global n; n += 1; return a * n\ntorch.compile(f)(x)": "compiles no change of what it guards",
    "import copy; copy.deepcopy(torch.nn.Linear(2, 2))": "makes no deep copies",
    "y = x * 1; z = y.view(2, 1); y.add_(1)": "no in-place operation on a view, or on what has one",
    "y = x * 1; y.view(2, 1).add_(1)": "no in-place operation on a view",
}
WRONG = {
    "-(x > 0)": "neg: bool tensors are not supported",
    "torch.ones(2, dtype=torch.bool, device='meta').relu()": "relu: bool tensors are not supported",
    "torch.ones(2, 3, device='meta').sum((0, -2))": "dim 0 appears multiple times",
    "torch.add(1, x)": "argument 'input' .position 1. must be Tensor",
    "torch.ones(1).expand(-2)": "does not expand",
    "torch.ones(1).expand(-1, 1)": "does not expand",
    "torch.ones(2, dtype=torch.int64).add(1, alpha=0.5)": "alpha must not be a floating point number",
    "(x * 2).requires_grad_(False)": "requires_grad flags of leaf variables",
    "torch.nn.Module.__new__(torch.nn.Module).weight": "no attribute 'weight'",
    "torch.ones(2) + torch.ones(2, device='meta')": "device meta is not on the expected device cpu",
}
SAID = [(program, NotImplementedError, f"toytorch.*{said}") for program, said in REFUSED.items()]
SAID += [(program, (RuntimeError, TypeError, AttributeError), said) for program, said in WRONG.items()]


@pytest.mark.parametrize(("program", "error", "said"), SAID)
def test_what_toytorch_does_not_do_it_says(program: str, error, said: str):
    with pytest.raises(error, match=said):
        exec(START_XY + program, {"torch": toytorch})


def test_torchs_samples_agree_or_it_is_said_why_not(capsys):
    found = agreement.Agreement().run()
    counts, left = agreement.explained(found)
    with capsys.disabled():
        print("", agreement.report(found), sep="\n")
    assert agreement.report(found) == agreement.SHOWN.read_text(), "python tests/toytorch_agreement.py writes it anew"
    assert [(one.op, one.kind, one.what) for one in left] == []
    assert [reason for reason, n in counts.items() if not n] == []
    agreed = sum(n for key, n in found.counts.items() if key[2])
    refused = sum(n for reason, n in counts.items() if reason in agreement.REFUSED)
    assert agreed / (sum(found.counts.values()) - refused) > 0.98


@pytest.fixture(scope="module")
def toy() -> dict:
    sys.path.insert(0, str(PACKAGE.parent))
    return runpy.run_path(str(ROOT / "examples/dispatch_as_torch.py"))


def keys_of(tensor: torch.Tensor, order: list) -> set[str]:
    """The keys of a call on a tensor, of those that the toy knows."""
    keys = torch._C._dispatch_keys(tensor) | torch._C._dispatch_tls_local_include_set()
    keys = keys - torch._C._dispatch_tls_local_exclude_set()
    return {key for key in order if keys.has(torch._C.DispatchKey.__members__[key])}


def torch_ran(name: str, order: list, table: dict, call) -> list[str]:
    """The keys whose kernels of an operator torch runs in a call, each noted by a function in front of the kernel. A
    backend's kernel may call the same operator for a part of its tensor, as sparse ones do: that is another call."""
    library, ran, inside = Library("aten", "IMPL"), [], []
    for key in (key for key in reversed(order) if not table.get(key, ("", True))[1]):
        if (key, table[key][0]) == ("Meta", "math kernel"):
            continue  # torch refuses a kernel there, and the operators below run on the meta tensor
        kernel = get_kernel(name, key)

        def noted(keyset, *args, key=key, kernel=kernel, **options):
            ran.extend([] if inside else [key])
            inside.extend([key] if key in BELOW else [])
            try:
                return kernel.call_boxed(keyset, *args, **options)
            finally:
                del inside[-1 if key in BELOW else len(inside) :]

        library.impl(name, noted, key, with_keyset=True)
    try:
        call()
    except RuntimeError as error:  # a kernel may refuse this dtype or this mode; then it ran
        ran.extend(["missing"] if str(error).startswith("Could not run") else [])
    finally:
        library._destroy()
    return ran


# In the one case left out, autocast's kernel casts to new tensors, which are no inference tensors and have more keys.
CASES = set(itertools.product(CALLS, tensors(), MODES)) - {("mm", "inference", "autocast")}


@pytest.mark.parametrize(("name", "kind", "mode"), sorted(CASES))
def test_the_toy_runs_the_kernels_that_torch_runs(name, kind, mode, toy):
    full, tensor, order = f"aten::{name}", tensors()[kind], toy["ORDER"]
    packet, _, overload = name.partition(".")
    operator = getattr(getattr(torch.ops.aten, packet), overload or "default")
    with MODES[mode](), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        theirs = torch_ran(full, order, toy["tables"][full], lambda: operator(*[tensor] * CALLS[name]))
        ours = []
        try:
            toy["operators"][full].call(toytorch.dispatch.DispatchKeySet(*keys_of(tensor, order)), ours)
        except NotImplementedError:
            ours.append("missing")
    if toy["tables"][full].get("Meta", ("",))[0] == "math kernel":
        ours = [key for key in ours if key != "Meta"]
    assert ours == theirs


def test_a_kernel_that_is_nowhere_is_reported(toy):
    operator = toy["Operator"]("toy::none")
    with pytest.raises(NotImplementedError, match="Could not run 'toy::none' with arguments from the 'CPU'"):
        operator.call(toytorch.dispatch.DispatchKeySet("CPU", "AutogradCPU"), [])
