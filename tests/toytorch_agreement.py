"""Runs torch's own OpInfo samples on toytorch and on torch, and counts where the two agree.

Every operator of `op_db` that toytorch has under the same name is run, with every sample for the three dtypes that
toytorch has. Nothing is left out: what toytorch refuses is a disagreement, REASONS says why, and REFUSED has those
where toytorch itself says that it lacks something."""

from __future__ import annotations

import collections
import re
import sys
import types
import unittest
import warnings
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
import toytorch as toy

SHOWN = Path(__file__).resolve().parent / "toytorch.txt"  # the page Build a torch includes it
KINDS = ("results", "in-place", "errors", "gradients", "views")
DTYPES = {torch.float32: toy.float32, torch.int64: toy.int64, torch.bool: toy.bool}
GROUPS = {
    "creation": "zeros ones full randn randint zeros_like",
    "views": "view reshape t expand",
    "copies": "clone item",
    "comparisons": "eq gt",
    "reductions": "sum",
    "matrices": "mm matmul nn.functional.linear __rmatmul__",
    "losses": "nn.functional.nll_loss nn.functional.cross_entropy",
}
GROUP = {name: group for group, names in GROUPS.items() for name in names.split()}


def op_db() -> list:
    """torch's list. Its module imports expecttest, which is not installed and not used here."""
    stub = types.ModuleType("expecttest")
    stub.TestCase = unittest.TestCase
    sys.modules.setdefault("expecttest", stub)
    from torch.testing._internal.common_methods_invocations import op_db

    return op_db


def find(name: str):
    """toytorch's function of a name: of the module, of nn.functional, or a method."""
    home = toy.nn.functional if name.startswith("nn.functional.") else toy
    name = name.removeprefix("nn.functional.")
    for place in (home, toy.Tensor):
        if callable(vars(place).get(name)) and not isinstance(vars(place)[name], type):
            return vars(place)[name]
    return None


class UnknownError(Exception):
    """An argument that toytorch has no counterpart for."""


def to_toy(value, seen: dict):
    """The same value in toytorch, a tensor with the same bytes, strides and offset; the same for the same tensor."""
    if isinstance(value, torch.Tensor):
        if id(value) in seen:
            return seen[id(value)][1]
        if value.dtype not in DTYPES or value.layout != torch.strided or value.is_conj() or value.is_neg():
            raise UnknownError(f"dtype {value.dtype}")
        count = value.untyped_storage().nbytes() // value.element_size()
        flat = toy.tensor(value.detach().as_strided((count,), (1,), 0).numpy(), dtype=DTYPES[value.dtype])
        made = toy.Tensor(flat.storage, flat.dtype, value.shape, value.stride(), value.storage_offset())
        made.version_counter.version = value._version
        made.requires_grad_(value.requires_grad)
        seen[id(value)] = value, made
        return made
    if isinstance(value, torch.dtype):
        if value not in DTYPES:
            raise UnknownError(f"dtype {value}")
        return DTYPES[value]
    if isinstance(value, (torch.device, torch.memory_format, torch.layout, complex)):
        if str(value) in ("cpu", "meta"):
            return str(value)
        raise UnknownError(f"{type(value).__name__} {value}")
    if isinstance(value, (tuple, list)):
        made = [to_toy(one, seen) for one in value]
        return tuple(made) if isinstance(value, tuple) else made
    if isinstance(value, dict):
        return {key: to_toy(one, seen) for key, one in value.items()}
    return value


def attempt(function, *args, **kwargs):
    """(result, None) or (None, error)."""
    torch.manual_seed(42)  # as the samples of random operators do
    toy.manual_seed(42)
    try:
        return function(*args, **kwargs), None
    except Exception as error:
        return None, error


def equal(theirs, mine) -> str:
    """How two results differ, or nothing."""
    if not isinstance(theirs, torch.Tensor):
        same = theirs == mine or (isinstance(theirs, float) and np.allclose(theirs, mine, equal_nan=True))
        return "" if same else f"value {mine} for {theirs}"
    if not isinstance(mine, toy.Tensor):
        return f"type {type(mine).__name__}"
    if tuple(theirs.shape) != tuple(mine.shape):
        return f"shape {tuple(mine.shape)} for {tuple(theirs.shape)}"
    if str(theirs.dtype) != f"torch.{mine.dtype}":
        return f"dtype {mine.dtype} for {theirs.dtype}"
    close = np.allclose(theirs.detach().numpy(), mine.detach().array(), rtol=1e-4, atol=1e-5, equal_nan=True)
    return "" if close else "values"


Disagreement = collections.namedtuple("Disagreement", "op kind what sample")


class Agreement:
    def __init__(self):
        self.counts = collections.Counter()  # (group, kind, agreed?)
        self.disagreements, self.operators = [], []

    def note(self, op, kind: str, what: str, sample=None):
        self.counts["programs" if op.name == "programs" else GROUP.get(op.name, "pointwise"), kind, not what] += 1
        if what:
            self.disagreements.append(Disagreement(op.name, kind, what, sample))

    def run(self):
        with warnings.catch_warnings(), torch.random.fork_rng():
            warnings.simplefilter("ignore")
            for op in op_db():
                if mine := find(op.name):
                    self.operators.append(op.name)
                    self.run_operator(op, mine)
            self.run_bad()
        return self

    def run_operator(self, op, mine):
        for dtype in DTYPES:
            if not op.supports_dtype(dtype, "cpu"):
                continue
            follow = dtype.is_floating_point and op.supports_autograd
            torch.manual_seed(0)
            for sample in op.sample_inputs("cpu", dtype, requires_grad=follow):
                self.run_sample(op, mine, sample, follow)
                self.run_inplace(op, sample)
        for sample in op.error_inputs("cpu") if op.error_inputs_func else ():
            self.run_error(op, mine, sample)

    def run_sample(self, op, mine, sample, follow):
        seen, inputs = {}, (sample.input, *sample.args)
        theirs, refused = attempt(op.op, *inputs, **sample.kwargs)
        try:
            args, kwargs = to_toy(inputs, seen), to_toy(sample.kwargs, seen)
        except UnknownError as error:
            self.note(op, "results", f"{error}", sample)
            return
        result, error = attempt(mine, *args, **kwargs)
        if refused or error:
            what = "" if type(refused) is type(error) else f"{type(error).__name__}: {error}" if error else "accepted"
            self.note(op, "results", what, sample)
            return
        self.note(op, "results", equal(theirs, result), sample)
        if isinstance(theirs, torch.Tensor) and isinstance(result, toy.Tensor):
            if follow and theirs.requires_grad:
                self.note(op, "gradients", self.gradients(theirs, result, seen), sample)
            self.note(op, "views", self.views(theirs, result, seen), sample)

    def run_inplace(self, op, sample):
        """The operator's in-place form, on a clone."""
        method = vars(toy.Tensor).get(f"{op.name}_")
        if not method or not op.inplace_variant or sample.broadcasts_input:
            return
        theirs = sample.input.clone()
        before, (_, refused) = theirs._version, attempt(op.inplace_variant, theirs, *sample.args, **sample.kwargs)
        try:
            seen = {}
            mine, args, kwargs = (to_toy(one, seen) for one in (sample.input, sample.args, sample.kwargs))
        except UnknownError as error:
            self.note(op, "in-place", f"{error}", sample)
            return
        mine = mine.clone()
        _, error = attempt(method, mine, *args, **kwargs)
        if refused or error:
            what = "" if type(refused) is type(error) else f"{type(error).__name__}: {error}" if error else "accepted"
        else:
            what = equal(theirs, mine) or "version" * (theirs._version - before != mine._version)
        self.note(op, "in-place", what, sample)

    def gradients(self, theirs, result, seen) -> str:
        if not result.requires_grad:
            return "no gradient"
        ones = torch.linspace(0.5, 1.5, theirs.numel(), dtype=theirs.dtype).reshape(theirs.shape)
        pairs = [(a, b) for a, b in seen.values() if a.requires_grad]
        expected = torch.autograd.grad(theirs, [a for a, _ in pairs], ones, allow_unused=True, retain_graph=True)
        _, error = attempt(result.backward, toy.tensor(ones.numpy()))
        if error:
            return f"{type(error).__name__}: {error}"
        found = [b.grad for _, b in pairs]
        for a, b in zip(expected, found):
            a, b = (None if g is None or not g.array().any() else g for g in (to_toy(a, {}), b))
            if (a is None) != (b is None):
                return "gradient of nothing"
            if a is not None and not np.allclose(a.array(), b.array(), rtol=1e-3, atol=1e-4, equal_nan=True):
                return "gradient values"
        return ""

    def views(self, theirs, result, seen) -> str:
        """Storage, strides, version and base; and what the inputs are after the result was overwritten."""
        for a, b in seen.values():
            shares = a.untyped_storage().data_ptr() == theirs.untyped_storage().data_ptr() and a.numel() > 0
            if a.numel() and shares != (b.untyped_storage() is result.untyped_storage()):
                return "shares storage" if not shares else "shares no storage"
            if shares and (theirs is a) != (result is b):
                return "is its input" if result is b else "is not its input"
            if shares and (theirs._base is None) != (result._base is None):
                return "has a base" if theirs._base is None else "has no base"
        steps = zip(theirs.shape, theirs.stride(), result.stride())
        if theirs.numel() and any(n > 1 and a != b for n, a, b in steps):
            return "strides"
        if theirs.storage_offset() != result.storage_offset() and theirs.numel():
            return "offset"
        if theirs._version != result._version:
            return "version"
        with torch.no_grad():
            _, refused = attempt(theirs.mul_, False)
        with toy.no_grad():
            _, error = attempt(result.mul_, False)
        if bool(refused) != bool(error):
            return f"{type(error or refused).__name__} when overwritten"
        for a, b in seen.values():
            if not np.array_equal(a.detach().numpy(), b.detach().array(), equal_nan=True) or a._version != b._version:
                return "inputs after the result was overwritten"
        return ""

    def run_error(self, op, mine, bad):
        sample = bad.sample_input
        _, refused = attempt(op.op, sample.input, *sample.args, **sample.kwargs)
        try:
            args, kwargs = to_toy((sample.input, *sample.args), {}), to_toy(sample.kwargs, {})
        except UnknownError as error:
            self.note(op, "errors", f"{error}", sample)
            return
        _, error = attempt(mine, *args, **kwargs)
        agrees = isinstance(error, bad.error_type) and re.search(bad.error_regex, str(error))
        self.note(op, "errors", "" if agrees else self.differs(refused, error), sample)

    def differs(self, refused, error) -> str:
        """Two errors agree when their types and their texts do."""
        if error is None:
            return f"accepted what torch refuses: {refused}"
        same = type(refused) is type(error) and str(refused).split("\n")[0] == str(error)
        return "" if same else f"{type(error).__name__}: {error} | {type(refused).__name__}: {refused}"

    def run_bad(self):
        """Programs that no sample has, each with torch and with toytorch; their messages must be the same."""
        for program in BAD:
            errors = []
            for module in (torch, toy):
                scope = {"torch": module, "nn": module.nn, "functional": module.nn.functional}
                errors.append(attempt(exec, program, scope)[1])
            self.note(types.SimpleNamespace(name="programs"), "errors", self.differs(*errors), program)

    def table(self) -> str:
        groups = [*GROUPS, "pointwise", "all"]
        lines = [f"{'':12}" + "".join(f"{kind:>11}" for kind in KINDS)]
        for group in groups:
            cells = ["{}/{}".format(*self.share(group, kind)) for kind in KINDS]
            lines.append(f"{group:12}" + "".join(f"{cell:>11}" for cell in cells))
        agreed, total = map(sum, zip(*(self.share("all", kind) for kind in KINDS)))
        lines.append(f"{len(set(self.operators))} operators, {agreed} of {total} checks agree: {agreed / total:.1%}")
        lines.append("own programs with a mistake, same message: {} of {}".format(*self.share("programs", "errors")))
        return "\n".join(lines)

    def share(self, group: str, kind: str) -> tuple[int, int]:
        """How many checks of a group agree, of how many; `all` are those with torch's samples."""
        found = {
            right: sum(
                n
                for (g, k, r), n in self.counts.items()
                if (k, r) == (kind, right) and (g == group or (group == "all" and g != "programs"))
            )
            for right in (True, False)
        }
        return found[True], sum(found.values())


BAD = """
torch.ones(2, 3) + torch.ones(2, 4)
torch.ones(2, 3) @ torch.ones(2, 3)
torch.mm(torch.ones(8, 3), torch.ones(4, 3))
torch.mm(torch.ones(2), torch.ones(2, 2))
torch.mm(torch.ones(2, 2), torch.ones(2, 2, dtype=torch.int64))
torch.ones(2, 3).t().view(6)
torch.ones(2, 3).view(7)
torch.ones(2, 3).view(-1, -1)
torch.ones(2, 3).view(-1, 4)
torch.ones(2, 3).expand(3, 3)
torch.ones(2, 3).expand(3)
torch.ones(2, 2, 2).t()
torch.ones(2, 3).add_(torch.ones(2, 2, 3))
torch.ones(2, dtype=torch.int64).add_(1.5)
-torch.ones(2, dtype=torch.bool)
torch.ones(2, dtype=torch.bool) - torch.ones(2, dtype=torch.bool)
torch.ones(2, 3).item()
torch.ones(2, 3).sum(5)
torch.ones(2, 3).sum((0, 0))
torch.ones(2, device="meta").sum().item()
torch.ones(2, device="meta") + torch.ones(2)
bool(torch.ones(2))
bool(torch.ones(0))
torch.tensor([1]).requires_grad_()
torch.tensor([1.5], requires_grad=True).add_(1)
torch.ones(2, requires_grad=True).numpy()
(torch.ones(2, requires_grad=True) * 2).backward()
torch.ones(2).sum().backward()
torch.ones(2, requires_grad=True).sum().backward(torch.ones(3))
x = torch.ones(2, requires_grad=True).exp(); x.add_(1); x.sum().backward()
x = torch.ones(2, requires_grad=True); y = x * 1; z = y * y; y.mul_(2); z.sum().backward()
x = torch.ones(2, requires_grad=True).exp().sum(); x.backward(); x.backward()
functional.nll_loss(torch.ones(2, 3), torch.tensor([1]))
functional.nll_loss(torch.ones(2, 3), torch.tensor([1, 5]))
functional.cross_entropy(torch.ones(2, 3), torch.tensor([-1, 0]))
functional.cross_entropy(torch.tensor([[1, 2]]), torch.tensor([1]))
functional.cross_entropy(torch.tensor([[True, False]]), torch.tensor([1]))
torch.randint(0, (2,))
torch.ones(2, 3).no_such_thing
nn.Linear(3, 4).no_such_thing
nn.Linear(3, 4)(torch.ones(2, 5))
nn.Linear(2, 2).weight = torch.ones(2, 2)
torch.ones(1).expand(3).add_(1)
torch.optim.SGD([], lr=0.1)
torch.optim.SGD([torch.ones(1, requires_grad=True) * 2], lr=0.1)
torch.optim.AdamW([torch.ones(1, requires_grad=True)], lr=-1.0)
""".strip().splitlines()


# What toytorch refuses, and says so: operators (all, if none is named), kind (any, if none), and what it says.
REFUSED = {
    "it has float32, int64 and bool alone": ("", "", r"^dtype torch\.|^AttributeError: module 'toytorch' .* 'float64'"),
    "it has no such option": ("", "", r"^TypeError: .*(unexpected keyword|multiple values|too many positional)"),
    "it multiplies matrices, not vectors or stacks": (
        "matmul nn.functional.linear",
        "results",
        r"^RuntimeError: (self|mat2) must be a matrix",
    ),
    "its losses pick one class for each row": ("", "", r"picks classes from rows only"),
}
# Why the two disagree, in the same form.
REASONS = REFUSED | {
    "two sizes -1, and -1 beside 0, are sizes that do not fit": ("", "errors", r"^RuntimeError: shape .* is invalid"),
    "its message is its own": (
        "programs neg",
        "errors",
        r"^\w+: (expected m1|The size of tensor a|expand:|neg:|sub:|a Tensor with|one of the var|Trying to backward|"
        r"Cannot copy)",
    ),
}


def explained(found: Agreement) -> tuple[dict[str, int], list[Disagreement]]:
    """How many disagreements each reason explains, and those that none explains. The first that fits counts."""
    counts, left = dict.fromkeys(REASONS, 0), []
    for one in found.disagreements:
        fits = [
            reason
            for reason, (ops, kind, what) in REASONS.items()
            if (not ops or one.op in ops.split()) and (not kind or one.kind in kind) and re.search(what, one.what)
        ]
        if fits:
            counts[fits[0]] += 1
        else:
            left.append(one)
    return counts, left


def report(found: Agreement) -> str:
    """What the page shows: the counts, and how many disagreements each reason explains."""
    counts, _ = explained(found)
    lines = [line for path in Path(toy.__file__).parent.glob("*.py") for line in path.read_text().splitlines()]
    code = sum(map(bool, lines))
    size = f"lines of toytorch: {code}, and {len(lines) - code} blank ones"
    reasons = "\n".join(f"{n:5}  {reason}" for reason, n in counts.items())
    return f"{found.table()}\n\nwhy the others do not agree\n{reasons}\n\n{size}\n"


if __name__ == "__main__":
    found = Agreement().run()
    SHOWN.write_text(report(found))
    print(report(found), end="")
    _, left = explained(found)
    print(f"{len(left)} are not explained")
    if "-v" in sys.argv:
        for (op, kind, what), n in collections.Counter((d.op, d.kind, d.what[:170]) for d in left).most_common():
            print(n, op, kind, what)
